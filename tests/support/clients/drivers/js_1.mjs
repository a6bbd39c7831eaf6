// The official JavaScript SDK 1.x, driven by lines on stdin: node js_1.mjs BASE_URL BINDING. A2A_KEY is the key.
// Parameters and answers are the JSON of version 1.0. The client has its default settings but for the key.
import * as sdk from "a2a-1";
import * as client from "a2a-1/client";
import { authenticating, converse } from "./lines.mjs";

const [baseUrl, binding] = process.argv.slice(2);
const fetchImpl = authenticating();
const factory = new client.ClientFactory({
  transports: [new client.JsonRpcTransportFactory({ fetchImpl }), new client.RestTransportFactory({ fetchImpl })],
  preferredTransports: [binding],
  cardResolver: new client.DefaultAgentCardResolver({ fetchImpl }),
});

let made;
const opened = () => (made ??= factory.createFromUrl(baseUrl));
const options = (line, signal) => ({ signal, serviceParameters: line.headers });

const keyOf = async (kid, jku) => (await (await fetch(jku)).json()).keys.find((key) => key.kid === kid);

const card = async (line) => {
  const given = await (
    await fetchImpl(new URL(".well-known/agent-card.json", baseUrl), { headers: { "A2A-Version": "1.0" } })
  ).json();
  if (line.params?.verify) await sdk.verifyAgentCardSignature(keyOf)(given);
  return given;
};

const send = async (line, signal) => {
  const answer = await (await opened()).sendMessage(
    sdk.SendMessageRequest.fromJSON(line.params), options(line, signal));
  return "status" in answer ? { task: sdk.Task.toJSON(answer) } : { message: sdk.Message.toJSON(answer) };
};

const stream = async function* (line, signal) {
  const request = sdk.SendMessageRequest.fromJSON(line.params);
  for await (const event of (await opened()).sendMessageStream(request, options(line, signal)))
    yield sdk.StreamResponse.toJSON(event);
};

const subscribe = async function* (line, signal) {
  const request = sdk.SubscribeToTaskRequest.fromJSON(line.params);
  for await (const event of (await opened()).resubscribeTask(request, options(line, signal)))
    yield sdk.StreamResponse.toJSON(event);
};

const call = (method, shape, answer) => async (line, signal) => {
  const given = await (await opened())[method](shape.fromJSON(line.params ?? {}), options(line, signal));
  return answer ? answer.toJSON(given) : null;
};

const listed = async (line, signal) => {
  const given = await (await opened()).listTasks(sdk.ListTasksRequest.fromJSON(line.params ?? {}), options(line, signal));
  const { nextPageToken, pageSize, totalSize } = given;
  return { tasks: given.tasks.map((task) => sdk.Task.toJSON(task)), nextPageToken, pageSize, totalSize };
};

const config = sdk.TaskPushNotificationConfig;
await converse({
  card, send, stream, subscribe,
  list: listed,
  get: call("getTask", sdk.GetTaskRequest, sdk.Task),
  cancel: call("cancelTask", sdk.CancelTaskRequest, sdk.Task),
  extended: async (line, signal) => sdk.AgentCard.toJSON(await (await opened()).getAgentCard(options(line, signal))),
  config_create: call("createTaskPushNotificationConfig", config, config),
  config_get: call("getTaskPushNotificationConfig", sdk.GetTaskPushNotificationConfigRequest, config),
  config_list: call("listTaskPushNotificationConfig", sdk.ListTaskPushNotificationConfigsRequest,
    sdk.ListTaskPushNotificationConfigsResponse),
  config_delete: call("deleteTaskPushNotificationConfig", sdk.DeleteTaskPushNotificationConfigRequest),
});
