"""The settings as keywords for editors: the file of the package is up to date."""

from tools import make_keywords


def test_the_file_in_the_package_is_up_to_date():
    text = make_keywords.PATH.read_text("utf-8")
    assert text == make_keywords.page(), "the file is old: run make keywords"
