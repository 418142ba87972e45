import subprocess
import sys


def test_the_room_is_cheap_to_enter():
    heavy = "openvino", "openvino_genai", "torch", "litellm", "transformers"
    code = (
        "import sys, aspectrag.lms; from aspectrag.lms import load, fetch, check, scripted_lm; load()\n"
        f"print([name for name in {heavy} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
    assert not done.stderr


def test_public_names_exist():
    import aspectrag.lms as lms

    for name in lms.__all__:
        assert getattr(lms, name) is not None
    assert callable(lms.check)
