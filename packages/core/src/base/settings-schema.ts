/** The schema of the settings. Apart from `settings.ts`, so that it is loaded only when settings are. */
import { z } from "zod"
import { FIGURES, SWITCHES } from "./flag-names.ts"
import { HOOK_EVENTS, PERMISSION_MODES } from "./vocabulary.ts"

const tokens = z.int().min(1)

/** What a request to the model may carry; the names are those of `ModelAccepts`. */
const accepts = z.partialRecord(
  z.enum([
    ...(["overflowingOutput", "prefill", "thinkingBudget", "adaptiveThinking", "thinkingOff", "forcedTools"] as const),
    ...(["systemMessages", "earlierThinking", "boundThinking", "contextManagement", "cacheEditing"] as const),
  ]),
  z.boolean(),
)

const modelOverride = z.strictObject({
  family: z.enum(["claude-4", "claude-5", "gpt-5", "unknown"]).exactOptional(),
  window: tokens.exactOptional(),
  maxOutput: tokens.exactOptional(),
  minCacheable: z.int().min(0).exactOptional(),
  price: z
    .strictObject({
      input: z.number().min(0),
      output: z.number().min(0),
      cacheWrite5m: z.number().min(0),
      cacheWrite1h: z.number().min(0),
      cacheRead: z.number().min(0),
    })
    .exactOptional(),
  accepts: accepts.exactOptional(),
  autoCompactPercent: z.number().exactOptional(),
  autoCompactTokens: z.number().exactOptional(),
})

/** Rules are `Tool` or `Tool(pattern)`; of several sources all rules count. */
const permissions = z.strictObject({
  mode: z.enum(PERMISSION_MODES).exactOptional(),
  allow: z.array(z.string()).exactOptional(),
  ask: z.array(z.string()).exactOptional(),
  deny: z.array(z.string()).exactOptional(),
})

const hookCommand = z.strictObject({
  command: z.string().min(1),
  /** Which tools (or sources) it is for, as a regular expression. Without it, all. */
  matcher: z.string().exactOptional(),
  timeoutSeconds: z.number().min(0.1).max(3600).exactOptional(),
})

const mcpServer = z.union([
  z.strictObject({
    command: z.string().min(1),
    args: z.array(z.string()).exactOptional(),
    env: z.record(z.string(), z.string()).exactOptional(),
  }),
  z.strictObject({ url: z.url(), headers: z.record(z.string(), z.string()).exactOptional() }),
])

export const settingsSchema = z.strictObject({
  $schema: z.string().optional(),
  /** Stops every change to what the model is sent (FLG-3). */
  off: z.boolean(),
  autoCompactEnabled: z.boolean(),
  disableCompact: z.boolean(),
  disableAutoCompact: z.boolean(),
  disableMicrocompact: z.boolean(),
  autoCompactPercent: z.number().optional(),
  autoCompactTokens: z.number().optional(),
  /** What every summary is to keep in mind. */
  compactInstructions: z.string().optional(),
  /** The model that writes summaries where the conversation's cache cannot be shared. */
  summariserModel: z.string().optional(),
  /** For models whose window is not known. */
  contextWindow: tokens.optional(),
  maxOutputTokens: tokens,
  /** When an acknowledged entry is on disk: `always`, after each `turn`, or `never`. */
  flush: z.enum(["always", "turn", "never"]),
  /** Content in telemetry. */
  exportContent: z.boolean(),
  models: z.record(z.string(), modelOverride),
  /** Kill switches and figures, as flags (FLG-1, FLG-2). */
  switches: z.partialRecord(z.enum(SWITCHES.map(({ name }) => name)), z.boolean()),
  figures: z.partialRecord(z.enum(FIGURES.map(({ name }) => name)), z.number()),
  /** Characters from which a tool's results are put aside, by tool name. */
  toolResultLimits: z.record(z.string(), z.int().min(0)),
  /** Tools besides ours whose results can be had again by calling them again: old ones may be cleared. */
  clearableTools: z.array(z.string()),
  permissions,
  hooks: z.partialRecord(z.enum(HOOK_EVENTS), z.array(hookCommand)),
  mcpServers: z.record(z.string(), mcpServer),
})

export type Settings = z.infer<typeof settingsSchema>
export type SettingsIssue = z.core.$ZodIssue
