"""Other processes: forked ones too, and what is sent between them."""

import copy
import multiprocessing
import pickle
import threading

import numpy
import pytest
from conftest import FIGURE_3

import gpusched


def at_work(path):
    """Of each kind of work, also what divides itself among threads."""
    analysis = gpusched.analyze(path)
    orders = gpusched.orders("scenarios/rtss2017/figure-3.json")
    run = gpusched.simulate(path)
    return run.to_csv(), analysis.to_csv(), orders.to_csv(), len(gpusched.audit(run).violations)


def refused(_):
    gpusched.simulate({"format": "gpusched-scenario/1", "name": "n", "kernels": {"K": {"blocks": 0}}})


METHODS = multiprocessing.get_all_start_methods()


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_other_processes_compute_the_same_however_they_start(method):
    # All that a forked process could wait for in vain has been there by then.
    expected = at_work(FIGURE_3)
    with multiprocessing.get_context(method).Pool(2) as pool:
        assert pool.map_async(at_work, [FIGURE_3] * 4).get(timeout=120) == [expected] * 4


@pytest.mark.skipif("fork" not in METHODS, reason="no fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_a_process_that_is_forked_while_another_thread_computes_computes_too():
    expected = at_work(FIGURE_3)
    stop = threading.Event()

    def compute():
        while not stop.is_set():
            gpusched.orders(FIGURE_3)

    thread = threading.Thread(target=compute)
    thread.start()
    try:
        with multiprocessing.get_context("fork").Pool(1) as pool:
            assert pool.apply_async(at_work, [FIGURE_3]).get(timeout=120) == expected
    finally:
        stop.set()
        thread.join()


def test_threads_compute_side_by_side():
    expected, found = at_work(FIGURE_3), []
    threads = [threading.Thread(target=lambda: found.append(at_work(FIGURE_3))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected] * 4


def test_errors_come_back_from_other_processes_whole():
    with multiprocessing.get_context("spawn").Pool(1) as pool, pytest.raises(gpusched.InputError) as raised:
        pool.map(refused, [None])
    error = raised.value
    assert (error.file, error.path) == ("<dict>", "kernels.K.blocks") and "expected a whole number" in error.what


def test_results_and_scenarios_are_the_same_behind_a_pickle():
    answers = [gpusched.analyze(FIGURE_3), gpusched.compare(FIGURE_3), gpusched.warps("LLCLL", 3)]
    for answer in answers:
        again = pickle.loads(pickle.dumps(answer))
        assert type(again) is type(answer) and again.notes == answer.notes
        for form in ("to_json", "to_csv", "to_markdown", "__str__", "_repr_svg_", "to_dict"):
            assert getattr(again, form)() == getattr(answer, form)(), form
        assert copy.copy(answer).to_json() == answer.to_json()
    scenario = gpusched.Scenario.read(FIGURE_3, seed=7)
    again = pickle.loads(pickle.dumps(scenario))
    assert again.notes == scenario.notes
    assert gpusched.simulate(again).to_json() == gpusched.simulate(scenario).to_json()
    run = gpusched.simulate(scenario)
    again = pickle.loads(pickle.dumps(run.blocks))
    assert numpy.array_equal(again.end_ns, run.blocks.end_ns)
    assert pickle.loads(pickle.dumps(run.kernels)) == run.kernels
    builder = gpusched.ScenarioBuilder("n", device="tx2")
    assert pickle.loads(pickle.dumps(builder)).to_dict() == builder.to_dict()


def test_what_is_not_pickled_says_what_to_send_in_its_place():
    run = gpusched.simulate(FIGURE_3)
    with pytest.raises(TypeError, match="a run is not pickled.*to_json"):
        pickle.dumps(run)
    assert copy.copy(run).to_json() == run.to_json()
    model = gpusched.Scenario.read("scenarios/amalthea/thesis-appendix.amxmi")
    with pytest.raises(TypeError, match="read the model in each process"):
        pickle.dumps(model)
