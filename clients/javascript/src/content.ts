/** A content block. Its `type` is `text`, `json`, `image`, `audio`, `resource` or `resource_link`. */
export type Block =
  | { type: "text"; text: string }
  | { type: "json"; value: unknown }
  | { type: "image" | "audio"; data: string; mimeType: string }
  | { type: "resource"; resource: Record<string, unknown> }
  | { type: "resource_link"; uri: string; name: string };

/** Text, or content blocks. */
export type Content = string | readonly Block[];

export function blocksOf(content: Content): Block[] {
  return typeof content === "string" ? [{ type: "text", text: content }] : [...content];
}

/** Return the texts among the blocks, joined by line ends. */
export function textOf(blocks: readonly unknown[]): string {
  return (blocks as Block[]).flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
}
