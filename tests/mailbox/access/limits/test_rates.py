import pytest

from mailbox.access.callers import Role
from mailbox.access.limits import own_limits, rates
from mailbox.access.limits.rates import Buckets, Rate
from mailbox.models import ApiKey, SenderStock
from mailbox.words.errors import RateLimitedError, UnauthenticatedError
from tests.support import factories

TEN_A_SECOND = Rate(10, 20)


@pytest.fixture(autouse=True)
def _no_request_before():
    rates.forget()
    own_limits.forget()
    yield
    rates.forget()
    own_limits.forget()


@pytest.fixture
def clock(monkeypatch):
    """Return the clock of the buckets, in seconds, as a list of one number."""
    now = [1000.0]
    monkeypatch.setattr("mailbox.access.limits.rates.time.monotonic", lambda: now[0])
    return now


@pytest.fixture
def limited(settings, clock):
    settings.WEB_WORKERS = 2
    settings.A2A_AGENT_REQUESTS_PER_S, settings.A2A_AGENT_REQUESTS_BURST = 20, 40
    settings.A2A_ADDRESS_REQUESTS_PER_S, settings.A2A_ADDRESS_REQUESTS_BURST = 2, 6
    return clock


def granted(take, most=1000):
    """Return how many requests in a row are granted."""
    for number in range(most):
        try:
            take()
        except RateLimitedError:
            return number
    return most


def test_a_bucket_grants_its_burst_and_then_its_rate(clock):
    buckets = Buckets("it")

    assert granted(lambda: buckets.take("a", TEN_A_SECOND)) == 20
    clock[0] += 0.5
    assert granted(lambda: buckets.take("a", TEN_A_SECOND)) == 5
    clock[0] += 1000
    assert granted(lambda: buckets.take("a", TEN_A_SECOND)) == 20


def test_each_key_has_a_bucket_of_its_own(clock):
    buckets = Buckets("it")

    granted(lambda: buckets.take("a", TEN_A_SECOND))

    assert buckets.is_empty("a", TEN_A_SECOND)
    assert not buckets.is_empty("b", TEN_A_SECOND)


def test_a_request_reads_what_is_left(clock):
    buckets = Buckets("it")
    allowances = [buckets.take("a", TEN_A_SECOND) for _ in range(20)]

    assert [allowance.remaining for allowance in allowances] == list(range(19, -1, -1))
    assert allowances[0].headers() == {"RateLimit-Policy": '"it";q=20;w=2', "RateLimit": '"it";r=19;t=1'}


def test_a_refused_request_reads_when_it_may_come_again(clock):
    slow = Rate(0.25, 1)
    buckets = Buckets("it")
    buckets.take("a", slow)
    clock[0] += 1

    with pytest.raises(RateLimitedError) as refusal:
        buckets.take("a", slow)

    assert refusal.value.retry_after == 3
    assert refusal.value.allowance is not None
    assert refusal.value.allowance.remaining == 0


def test_a_refused_request_takes_nothing(clock):
    buckets = Buckets("it")
    granted(lambda: buckets.take("a", TEN_A_SECOND))
    for _ in range(100):
        granted(lambda: buckets.take("a", TEN_A_SECOND))

    clock[0] += 0.1

    assert granted(lambda: buckets.take("a", TEN_A_SECOND)) == 1


def test_invented_keys_take_no_more_memory_than_the_most_buckets(clock, monkeypatch):
    monkeypatch.setattr(rates, "MOST_BUCKETS", 100)
    buckets = Buckets("it")

    for number in range(1000):
        buckets.take(number, TEN_A_SECOND)
        buckets.take("used often", TEN_A_SECOND) if number % 50 == 0 else None
        buckets.is_empty(f"other {number}", TEN_A_SECOND)

    assert len(buckets) == 100
    assert buckets.is_empty("used often", TEN_A_SECOND), "a forgotten bucket would be full"


@pytest.mark.django_db
def test_each_web_process_grants_its_share(limited, alice):
    assert granted(lambda: rates.take(alice)) == 20
    limited[0] += 1
    assert granted(lambda: rates.take(alice)) == 10


@pytest.mark.django_db
def test_an_agent_has_one_rate_and_another_agent_has_its_own(limited, alice, bob):
    granted(lambda: rates.take(alice))

    assert granted(lambda: rates.take(bob)) == 20


@pytest.mark.django_db
def test_the_items_of_a_batch_count_and_may_be_made_up_for_later(limited, alice):
    rates.take(alice)
    rates.take_for_items(alice, 40)

    with pytest.raises(RateLimitedError) as refusal:
        rates.take(alice)
    assert refusal.value.retry_after == 3  # 20 a burst, less 40, and 10 a second: 2.1 seconds to the next whole one
    limited[0] += 2.15
    assert granted(lambda: rates.take(alice)) == 1


@pytest.mark.django_db
def test_a_batch_of_one_item_counts_as_its_request(limited, alice):
    rates.take(alice)
    rates.take_for_items(alice, 1)

    assert granted(lambda: rates.take(alice)) == 19


@pytest.mark.django_db
def test_the_burst_of_an_own_rate_is_in_proportion(limited, alice, bob):
    SenderStock.objects.create(agent=alice.agent, max_requests_per_s=2)
    own_limits.forget()

    assert granted(lambda: rates.take(alice)) == 2
    limited[0] += 1
    assert granted(lambda: rates.take(alice)) == 1
    assert granted(lambda: rates.take(bob)) == 20


@pytest.mark.django_db
def test_people_have_rates_too(limited):
    olga, oskar = (factories.person(name, Role.OPERATOR) for name in ("olga", "oskar"))

    assert granted(lambda: rates.take(olga)) == 20
    assert granted(lambda: rates.take(oskar)) == 20


@pytest.mark.django_db
def test_no_rate_counts_nothing(limited, settings, alice):
    settings.A2A_AGENT_REQUESTS_PER_S = settings.A2A_ADDRESS_REQUESTS_PER_S = 0

    assert granted(lambda: rates.take(alice)) == 1000
    assert granted(lambda: rates.take_anonymous("192.0.2.1")) == 1000
    assert rates.take(alice) is None


@pytest.mark.parametrize(
    ("first", "second", "is_shared"),
    [
        ("192.0.2.1", "192.0.2.1", True),
        ("192.0.2.1", "192.0.2.2", False),
        ("2001:db8::1", "2001:db8::2", True),
        ("2001:db8::1", "2001:db8:0:1::1", False),
        ("fe80::1%eth0", "fe80::2%eth1", True),
        ("not:an:address", "not:an:address", True),
    ],
)
def test_an_address_has_one_rate_and_an_ipv6_network_too(limited, first, second, is_shared):
    granted(lambda: rates.take_anonymous(first))

    assert (granted(lambda: rates.take_anonymous(second)) == 0) == is_shared


def fail(key=None, address="192.0.2.1"):
    """Authenticate in vain. Return whether the hub looked at the key at all."""
    try:
        with rates.of_strangers(address, key):
            raise UnauthenticatedError
    except UnauthenticatedError:
        return True
    except RateLimitedError:
        return False


@pytest.mark.django_db
def test_failures_count_for_their_address_alone(limited):
    assert [fail() for _ in range(5)] == [True, True, True, False, False]
    assert fail(address="192.0.2.2")
    limited[0] += 1
    assert fail()


@pytest.mark.django_db
def test_a_success_counts_for_no_address(limited):
    for _ in range(100):
        with rates.of_strangers("192.0.2.1", "a2a_any"):
            pass

    assert fail()


@pytest.mark.django_db
def test_a_stranger_shuts_out_no_agent_behind_its_address(limited, alice, django_assert_num_queries):
    key = factories.key_of(alice)
    for _ in range(100):
        fail()

    with django_assert_num_queries(1):
        for _ in range(10):
            with rates.of_strangers("192.0.2.1", key):
                pass


@pytest.mark.django_db
def test_an_invented_key_is_refused_without_a_look_at_it(limited, alice, django_assert_num_queries):
    key = factories.key_of(alice)
    for _ in range(100):
        fail()
    ApiKey.objects.all().delete()

    with django_assert_num_queries(1):
        assert not any(fail(key) for _ in range(10))


@pytest.mark.django_db
def test_a_new_key_is_known_after_some_seconds(limited, alice, settings):
    settings.A2A_ADDRESS_REQUESTS_PER_S, settings.A2A_ADDRESS_REQUESTS_BURST = 1, 1
    fail()
    fail(factories.key_of(alice))
    new = factories.key_of(alice)
    assert not fail(new)

    limited[0] += rates.READ_KEYS_EVERY
    fail()

    assert fail(new)


@pytest.mark.django_db
def test_a_minute_without_a_key_counts_by_agent_and_address(limited, settings, alice, bob):
    settings.A2A_ANONYMOUS_RATE_LIMIT_PER_MIN = 120

    assert granted(lambda: rates.take_open(bob.agent, "192.0.2.1")) == 60  # this process's half
    assert granted(lambda: rates.take_open(bob.agent, "192.0.2.2"), most=2) == 2
    assert granted(lambda: rates.take_open(alice.agent, "192.0.2.1"), most=2) == 2
    limited[0] += 10
    assert granted(lambda: rates.take_open(bob.agent, "192.0.2.1")) == 10


@pytest.mark.django_db
def test_the_allowance_without_a_key_names_its_limit(limited, bob):
    assert rates.take_open(bob.agent, "192.0.2.1").headers()["RateLimit-Policy"] == '"anonymous";q=60;w=60'
