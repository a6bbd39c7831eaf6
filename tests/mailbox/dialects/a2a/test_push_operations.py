"""The receivers of a task's events, in both versions."""

import pytest

from mailbox.models import PushConfig
from tests.support import factories
from tests.support.a2a import OfficialClient, message

pytestmark = pytest.mark.django_db
URL = "https://receiver.example/hook"
SECRETS = {"token": "t0ken", "authentication": {"scheme": "Bearer", "credentials": "s3cret"}}


@pytest.fixture
def task_id(client):
    return client.send()["id"]


def create(client, task_id, **members):
    return client.rpc("CreateTaskPushNotificationConfig", {"taskId": task_id, "url": URL, **members})


def test_a_receiver_is_created_read_listed_and_deleted(client, task_id):
    created = create(client, task_id, **SECRETS)
    assert created == {"id": created["id"], "taskId": task_id, "url": URL, **SECRETS}
    named = {"taskId": task_id, "id": created["id"]}
    shown = {**named, "url": URL, "authentication": {"scheme": "Bearer"}}
    assert client.rpc("GetTaskPushNotificationConfig", named) == shown
    listed = client.rpc("ListTaskPushNotificationConfigs", {"taskId": task_id})
    assert listed == {"configs": [shown], "nextPageToken": ""}

    for _ in range(2):
        assert client.rpc("DeleteTaskPushNotificationConfig", named) is None
    assert client.error("GetTaskPushNotificationConfig", named) == (-32001, "TASK_NOT_FOUND")


def test_a_receiver_of_the_same_id_is_replaced(client, task_id):
    create(client, task_id, id="mine")
    create(client, task_id, id="mine", url=f"{URL}/new")

    (config,) = client.rpc("ListTaskPushNotificationConfigs", {"taskId": task_id})["configs"]
    assert (config["id"], config["url"]) == ("mine", f"{URL}/new")


def test_receivers_are_listed_by_pages(client, task_id):
    ids = [create(client, task_id)["id"] for _ in range(3)]
    first = client.rpc("ListTaskPushNotificationConfigs", {"taskId": task_id, "pageSize": 2})
    token = first["nextPageToken"]
    second = client.rpc("ListTaskPushNotificationConfigs", {"taskId": task_id, "pageSize": 2, "pageToken": token})

    assert [config["id"] for config in first["configs"] + second["configs"]] == ids
    wrong = {"taskId": task_id, "pageToken": "x"}
    assert client.error("ListTaskPushNotificationConfigs", wrong) == (-32602, "INVALID_PARAMS")


def test_a_token_of_another_task_s_receivers_is_invalid(client, bob, mallory, task_id):
    for _ in range(2):
        create(client, task_id)
    token = client.rpc("ListTaskPushNotificationConfigs", {"taskId": task_id, "pageSize": 1})["nextPageToken"]
    factories.grant(mallory, "a2a.send.*")

    for caller in (client, OfficialClient(mallory, bob)):
        of_another = {"taskId": caller.send()["id"], "pageToken": token}
        assert caller.error("ListTaskPushNotificationConfigs", of_another) == (-32602, "INVALID_PARAMS")


def test_a_receiver_may_come_with_a_message(client):
    configuration = {"returnImmediately": True, "taskPushNotificationConfig": {"url": URL, "id": "mine"}}
    sent = client.rpc("SendMessage", {"message": message(), "configuration": configuration})["task"]

    (config,) = client.rpc("ListTaskPushNotificationConfigs", {"taskId": sent["id"]})["configs"]
    assert (config["id"], config["taskId"]) == ("mine", sent["id"])


def test_a_url_that_the_hub_would_not_call_is_invalid(client, task_id):
    response = client.response("CreateTaskPushNotificationConfig", {"taskId": task_id, "url": "ftp://x"}).json()
    assert response["error"]["code"] == -32602
    assert response["error"]["data"][1]["fieldViolations"][0]["field"] == "url"

    inline = {"message": message(), "configuration": {"taskPushNotificationConfig": {"url": "http://10.0.0.1/"}}}
    response = client.response("SendMessage", inline).json()
    field = response["error"]["data"][1]["fieldViolations"][0]["field"]
    assert field == "configuration.taskPushNotificationConfig.url"
    assert client.rpc("ListTasks")["totalSize"] == 1


def test_receivers_in_0_3(alice, bob, task_id):
    old = OfficialClient(alice, bob, version=None)
    inner = {"url": URL, "id": "mine", "token": "t", "authentication": {"schemes": ["Bearer"], "credentials": "c"}}
    created = old.rpc("tasks/pushNotificationConfig/set", {"taskId": task_id, "pushNotificationConfig": inner})
    assert created == {"taskId": task_id, "pushNotificationConfig": inner}

    only = old.rpc("tasks/pushNotificationConfig/get", {"id": task_id})
    assert only["pushNotificationConfig"]["authentication"] == {"schemes": ["Bearer"]}
    assert old.rpc("tasks/pushNotificationConfig/list", {"id": task_id}) == [only]
    named = {"id": task_id, "pushNotificationConfigId": "mine"}
    assert old.rpc("tasks/pushNotificationConfig/delete", named) is None
    assert not PushConfig.objects.exists()
