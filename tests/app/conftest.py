"""The command as a user runs it: exit code, stdout and stderr."""

import pytest
from aspectrag.app import cli


@pytest.fixture
def run(capsys):
    def call(*arguments):
        code = cli.run([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call
