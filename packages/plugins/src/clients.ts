/** The agents that hand over their compaction. */
export const CLIENTS = ["claude-code", "pi", "opencode"] as const
export type Client = (typeof CLIENTS)[number]

export type Environment = Readonly<Record<string, string | undefined>>
