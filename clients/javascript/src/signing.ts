// Signatures of requests by an agent's Ed25519 key. Source: RFC 9421, and RFC 9530 for the digest of the body.

import { createHash, createPrivateKey, createPublicKey, randomBytes, sign, type KeyObject } from "node:crypto";

const LIFE = 300; // seconds from the creation of a signature to its expiry, the most that a hub takes
const ALPHABET = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
const PKCS8 = Buffer.from("302e020100300506032b657004220420", "hex"); // stands before the 32 bytes of a key
const SEED_BYTES = 32;

/** An Ed25519 key that signs requests. */
export class Signer {
  readonly #key: KeyObject;
  /** The public key in base58, as the hub names it. */
  readonly pubkey: string;

  /** `key` is a private key: base58 of its 32 bytes, as `a2a agents new-key` writes it, or PEM, or a key object. */
  constructor(key: string | KeyObject) {
    this.#key = typeof key === "string" ? read(key.trim()) : key;
    if (this.#key.asymmetricKeyType !== "ed25519") throw new TypeError("signingKey must be an Ed25519 private key");
    const { x } = createPublicKey(this.#key).export({ format: "jwk" });
    this.pubkey = base58(Buffer.from(x ?? "", "base64url"));
  }

  /** Return the headers that sign a request. Each repetition needs a signature of its own. */
  headers(method: string, url: URL, body?: string): Record<string, string> {
    const digest = body === undefined ? {} : { "content-digest": digestOf(body) };
    const covered = { "@method": method, "@authority": url.host, "@target-uri": url.href, ...digest };
    const created = Math.floor(Date.now() / 1000);
    const parameters =
      `(${Object.keys(covered).map(quoted).join(" ")})` +
      `;created=${created};expires=${created + LIFE};nonce="${randomBytes(24).toString("base64url")}"` +
      `;keyid="${this.pubkey}";alg="ed25519"`;
    const lines = Object.entries({ ...covered, "@signature-params": parameters });
    const base = lines.map(([name, value]) => `${quoted(name)}: ${value}`).join("\n");
    const signature = sign(null, Buffer.from(base), this.#key).toString("base64");
    return { ...digest, "signature-input": `a2a=${parameters}`, signature: `a2a=:${signature}:` };
  }
}

function read(key: string): KeyObject {
  if (key.startsWith("-----")) return createPrivateKey(key);
  const seed = unbase58(key);
  if (seed.length !== SEED_BYTES) throw new TypeError("signingKey must be PEM, or base58 of 32 bytes");
  return createPrivateKey({ key: Buffer.concat([PKCS8, seed]), format: "der", type: "pkcs8" });
}

function quoted(name: string): string {
  return `"${name}"`;
}

function digestOf(body: string): string {
  return `sha-256=:${createHash("sha256").update(body).digest("base64")}:`;
}

function base58(bytes: Buffer): string {
  let number = BigInt(`0x${bytes.toString("hex") || "0"}`);
  let text = "";
  for (; number > 0n; number /= 58n) text = ALPHABET[Number(number % 58n)] + text;
  const zeros = bytes.findIndex((byte) => byte !== 0);
  return "1".repeat(zeros < 0 ? bytes.length : zeros) + text;
}

function unbase58(text: string): Buffer {
  let number = 0n;
  for (const digit of text) {
    const value = ALPHABET.indexOf(digit);
    if (value < 0) throw new TypeError("signingKey must be PEM, or base58 of 32 bytes");
    number = number * 58n + BigInt(value);
  }
  const zeros = text.length - text.replace(/^1+/, "").length;
  const hex = number === 0n ? "" : number.toString(16);
  return Buffer.concat([Buffer.alloc(zeros), Buffer.from(hex.length % 2 ? `0${hex}` : hex, "hex")]);
}
