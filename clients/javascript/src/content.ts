import type { ResultRow } from "./wire.js";

/** A content block. Its `type` is `text`, `json`, `image`, `audio`, `resource` or `resource_link`. */
export type Block = ResultRow["content"][number];

/** Text, or content blocks. */
export type Content = string | readonly Block[];

export function blocksOf(content: Content): Block[] {
  return typeof content === "string" ? [{ type: "text", text: content }] : [...content];
}

/** Return the texts among the blocks, joined by line ends. */
export function textOf(blocks: readonly Block[]): string {
  return blocks.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
}
