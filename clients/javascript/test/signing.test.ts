import assert from "node:assert/strict";
import { createHash, createPublicKey, generateKeyPairSync, verify } from "node:crypto";
import { test } from "node:test";
import { Signer } from "../src/signing.js";
import { FakeHub, json } from "./fake_hub.js";

// The key of test vector 1 in RFC 8032, section 7.1. Its spellings in base58 are the hub's.
const PRIVATE = "BbMQkQYZspmkytduTWvXEtc4mMURjsekJDvty2WtKeSb";
const PUBLIC = "FVen3X669xLzsi6N2V91DoiyzHzg1uAgqiT8jZ9nS96Z";

test("a key is read from base58 and from PEM", () => {
  const pair = generateKeyPairSync("ed25519");
  const pem = pair.privateKey.export({ format: "pem", type: "pkcs8" }).toString();

  assert.equal(new Signer(`${PRIVATE}\n`).pubkey, PUBLIC);
  assert.equal(new Signer(pem).pubkey, new Signer(pair.privateKey).pubkey);
  assert.throws(() => new Signer("0OIl"), /base58/);
  assert.throws(() => new Signer("abc"), /32 bytes/);
  assert.throws(() => new Signer(generateKeyPairSync("x25519").privateKey), /Ed25519/);
});

test("a signature covers the method, the address and the body, and each repetition has its own", async () => {
  const fake = (await FakeHub.start()).on("POST /a2a/tasks", (_, response) => response.destroy(), json({}));
  const { privateKey, publicKey } = generateKeyPairSync("ed25519");

  await fake.hub({ signingKey: privateKey }).send("bob", "wörk");

  const nonces = fake.requests.map(({ headers, text }) => {
    const input = String(headers["signature-input"]);
    const digest = `sha-256=:${createHash("sha256").update(text).digest("base64")}:`;
    const base = [
      `"@method": POST`,
      `"@authority": ${fake.url.slice("http://".length)}`,
      `"@target-uri": ${fake.url}/a2a/tasks`,
      `"content-digest": ${digest}`,
      `"@signature-params": ${input.slice("a2a=".length)}`,
    ].join("\n");
    const signature = Buffer.from(String(headers["signature"]).slice("a2a=:".length, -1), "base64");
    assert.ok(
      verify(null, Buffer.from(base), createPublicKey(publicKey.export({ format: "pem", type: "spki" })), signature),
    );
    assert.equal(headers["content-digest"], digest);
    assert.equal(headers.authorization, undefined);
    return /;nonce="([^"]{16,64})"/.exec(input)?.[1];
  });
  assert.equal(new Set(nonces).size, 2);
});
