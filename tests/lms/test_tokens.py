import pytest
from aspectrag.lms import scripted_lm
from aspectrag.lms.tokens import count, estimate

# Tokens as a current tokenizer with 150,000 entries counts them.
SAMPLES = {
    "The quick brown fox jumps over the lazy dog near the bank of the river.": 16,
    "北京是中华人民共和国的首都，也是全国的政治中心。": 14,
    "東京は日本の首都であり、世界でも有数の大都市である。": 18,
    "서울은 대한민국의 수도이며 가장 큰 도시이다.": 19,
    "Москва является столицей и крупнейшим городом России.": 15,
    "": 0,
}


@pytest.mark.parametrize(("text", "tokens"), SAMPLES.items())
def test_estimates_are_within_a_factor_of_three(text, tokens):
    assert tokens / 3 <= estimate(text) <= max(tokens * 3, 0)


def test_an_engine_that_counts_is_asked():
    assert count(scripted_lm({}), "three words here") == 3
