"""A project and its repository find each other by an id that both have."""

from integration.undo.desk import Desk
from siding.record.place.new_project import give_id
from siding.record.place.project_places import place_of, repository_id


def test_both_have_one_and_it_stays(desk: Desk) -> None:
    layout, paths = desk.project.layout, desk.project.paths
    place = place_of(layout)
    assert place is not None
    known = repository_id(paths)
    assert known
    assert place.id == known
    assert give_id(desk.project.app, place, paths) == place
    without = {key: value for key, value in place.document.items() if key != "id"}
    assert give_id(desk.project.app, place._replace(document=without), paths).id == known
    assert repository_id(paths) == known
    written = place_of(layout)
    assert written is not None
    assert written.id == known
