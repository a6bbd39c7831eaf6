// The official JavaScript SDK 0.3, driven by lines on stdin: node js_0_3.mjs BASE_URL. A2A_KEY is the key.
// Parameters and answers are the JSON of version 0.3. The client has its default settings but for the key.
import * as client from "a2a-0.3/client";
import { authenticating, converse } from "./lines.mjs";

const [baseUrl] = process.argv.slice(2);
const fetchImpl = authenticating();
const resolver = new client.DefaultAgentCardResolver({ fetchImpl });
const factory = new client.ClientFactory({
  transports: [new client.JsonRpcTransportFactory({ fetchImpl })],
  cardResolver: resolver,
});

let made;
const opened = () => (made ??= factory.createFromUrl(baseUrl));
const options = (line, signal) => ({ signal, serviceParameters: line.headers });

const call = (method) => async (line, signal) => (await opened())[method](line.params, options(line, signal));
const streaming = (method) => async function* (line, signal) {
  for await (const event of (await opened())[method](line.params, options(line, signal))) yield event;
};

await converse({
  card: () => resolver.resolve(baseUrl),
  send: call("sendMessage"),
  stream: streaming("sendMessageStream"),
  subscribe: streaming("resubscribeTask"),
  get: call("getTask"),
  cancel: call("cancelTask"),
  extended: async (line, signal) => (await opened()).getAgentCard(options(line, signal)),
  config_create: call("setTaskPushNotificationConfig"),
  config_get: call("getTaskPushNotificationConfig"),
  config_list: call("listTaskPushNotificationConfig"),
  config_delete: call("deleteTaskPushNotificationConfig"),
});
