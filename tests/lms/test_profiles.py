import pytest
from aspectrag.errors import AspectragError
from aspectrag.lms import load, resolve, roles
from aspectrag.lms.profiles import read_profiles

PROFILES = """
default = "small"

[lms.small]
model = "ollama_chat/qwen3:4b"
api_base = "http://localhost:11434"
num_ctx = 4096

[lms.large]
model = "openai/gpt-4o"
temperature = 0.5

[roles]
aggregate = "large"
route = "embedded"
"""


@pytest.fixture
def profile(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    path = tmp_path / "aspectrag.toml"
    path.write_text(PROFILES)
    return path


def test_order_of_precedence(profile, monkeypatch):
    assert resolve().model == "ollama_chat/qwen3:4b"
    assert resolve().num_ctx == 4096
    monkeypatch.setenv("ASPECTRAG_LM", "large")
    assert resolve().temperature == 0.5
    monkeypatch.setenv("ASPECTRAG_TEMPERATURE", "0.25")
    assert resolve().temperature == 0.25
    assert resolve(temperature=0.75).temperature == 0.75
    assert resolve("embedded").model == "embedded"
    profile.unlink()
    monkeypatch.delenv("ASPECTRAG_LM")
    assert resolve().model == "embedded"


def test_api_base_from_the_environment(profile, monkeypatch):
    monkeypatch.setenv("ASPECTRAG_API_BASE", "http://elsewhere:1/v1")
    assert resolve("openai/m").api_base == "http://elsewhere:1/v1"
    assert resolve("openai/m", api_base="http://here:1/v1").api_base == "http://here:1/v1"


def test_the_file_here_goes_before_the_one_of_the_user(profile, tmp_path):
    general = tmp_path / "config" / "aspectrag" / "config.toml"
    general.parent.mkdir(parents=True)
    general.write_text('default = "embedded"')
    assert read_profiles().path is not None
    assert resolve().model.startswith("ollama")
    profile.unlink()
    assert resolve().model == "embedded"
    assert read_profiles().path == general


def test_roles(profile):
    stages = roles()
    assert stages["aggregate"].model == "openai/gpt-4o"
    assert stages["route"] is not None
    assert stages["route"].engine is load("embedded").engine


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[lms.a]\nmodel = 'x/y'\ntemprature = 1", "there is no option 'temprature': did you mean 'temperature'"),
        ("[lms.a]\nmodel = 'x/y'\napi_key = 'sk-1'", "api_key_env"),
        ("[lms.a]\nmodel = 'x/y'\nextra = {api_key = 'sk-1'}", "api_key_env"),
        ("[lms.a]\nmodel = 'x/y'\nmax_tokens = 'many'", "max_tokens = 'many' is not possible"),
        ("[lms.a]\ntemperature = 1", "must be a table with a model"),
        ("[lms.large]\nmodel = 'x/y'\n[roles]\nroute = 'larg'", "roles.route: there is no language model 'larg'"),
        ("default = 'larg'\n[lms.large]\nmodel = 'x/y'", "did you mean 'large'"),
        ("[role]\na = 'b'", "there is no 'role': did you mean 'roles'"),
        ("lms = 3", "lms must be a table"),
        ("[[", "cannot be read"),
    ],
)
def test_mistakes_are_named(profile, text, message):
    profile.write_text(text)
    with pytest.raises(AspectragError) as refused:
        resolve("embedded")
    assert message in str(refused.value)
    assert str(profile.name) in str(refused.value)
    assert "sk-1" not in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_profile_file_that_is_not_there(monkeypatch, tmp_path):
    monkeypatch.setenv("ASPECTRAG_PROFILE", str(tmp_path / "none.toml"))
    with pytest.raises(AspectragError, match="not a file"):
        load("embedded")
