/** Which types of blocks the API accepts where. */
const MEDIA_AND_TEXT = ["text", "image", "document", "search_result"]

export const USER_BLOCKS: ReadonlySet<string> = new Set([...MEDIA_AND_TEXT, ...["tool_result", "container_upload"]])

export const ASSISTANT_BLOCKS: ReadonlySet<string> = new Set([
  ...["text", "thinking", "redacted_thinking", "tool_use", "server_tool_use", "mcp_tool_use", "container_upload"],
  ...["compaction", "fallback", "mcp_tool_listing"],
])

/** In a message of the system between the others. */
export const SYSTEM_BLOCKS: ReadonlySet<string> = new Set(["text", "tool_addition", "tool_removal"])

/** Inside a tool result. */
export const RESULT_BLOCKS: ReadonlySet<string> = new Set([...MEDIA_AND_TEXT, "tool_reference", "browser_state"])

/** The result of a call that the server ran itself: `web_search_tool_result`. */
export const isServerResult = (type: string): boolean => type !== "tool_result" && /^.+_tool_result$/.test(type)
