/** Labels for the parts of a context: in the chat, in reports and on pages. docs/tokens.md explains each. */
export const CONTEXT_LABELS = {
  prompt: "system prompt and tools",
  human: "your messages",
  assistant: "the model's text",
  thinking: "thinking",
  calls: "tool calls",
  results: "tool results",
  files: "files read",
  commands: "command output",
  searches: "search results",
  otherResults: "other tool results",
  attachments: "attachments",
  summary: "summary and facts",
  other: "summaries, program text",
  unknown: "not broken down",
} as const
