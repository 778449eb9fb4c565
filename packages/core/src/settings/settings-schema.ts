/** The schema of the settings, in a file of its own so that zod is loaded only with settings. */
import * as z from "zod/v4"
import {
  CACHE_LIFETIMES,
  HOOK_EVENTS,
  isPermissionRule,
  MEMORY_MODES,
  PERMISSION_MODES,
  PERMISSION_RULE,
  PLANNER_MODES,
  SANDBOX_MODES,
} from "../base/enums.ts"
import { FIGURES, SWITCHES } from "./flag-names.ts"

/** An optional key whose type excludes `undefined`, because `combineSettings` drops such values before the check. */
const optionalKey = <T>(schema: z.ZodType<T>) => schema.optional() as unknown as OptionalKey<T> // zod 4.3 has exactOptional
type OptionalKey<T> = z.ZodType<T> & { _zod: { optin: "optional"; optout: "optional" } }

const tokens = z.int().min(1)

/** Request features of a model, named as in `ModelAccepts`. */
const accepts = z.partialRecord(
  z.enum([
    ...(["overflowingOutput", "prefill", "thinkingBudget", "adaptiveThinking", "thinkingOff", "forcedTools"] as const),
    ...(["thinksUnasked", "omitsThinking"] as const),
    ...(["systemMessages", "earlierThinking", "boundThinking", "contextManagement", "cacheEditing"] as const),
    ...(["signedSummaries", "toolReferences"] as const),
  ]),
  z.boolean(),
)

const modelOverride = z.strictObject({
  family: optionalKey(z.enum(["claude-4", "claude-5", "gpt-5", "unknown"])),
  window: optionalKey(tokens),
  maxOutput: optionalKey(tokens),
  minCacheable: optionalKey(z.int().min(0)),
  slots: optionalKey(z.int().min(1)),
  price: optionalKey(
    z.strictObject({
      input: z.number().min(0),
      output: z.number().min(0),
      cacheWrite5m: z.number().min(0),
      cacheWrite1h: z.number().min(0),
      cacheRead: z.number().min(0),
    }),
  ),
  accepts: optionalKey(accepts),
  autoCompactPercent: optionalKey(z.number()),
  autoCompactTokens: optionalKey(z.number()),
})

/** Rules have the form `Tool` or `Tool(pattern)`. The rules of all sources apply. */
const rules = z.array(z.string().refine(isPermissionRule, { error: `must be ${PERMISSION_RULE}` }))
const permissions = z.strictObject({
  mode: optionalKey(z.enum(PERMISSION_MODES)),
  allow: optionalKey(rules),
  ask: optionalKey(rules),
  deny: optionalKey(rules),
})

const hookCommand = z.strictObject({
  command: z.string().min(1),
  /** A regular expression for the tools or sources of the hook. Default: all. */
  matcher: optionalKey(z.string()),
  timeoutSeconds: optionalKey(z.number().min(0.1).max(3600)),
  /** Variables that the hook receives although they look like secrets. */
  passEnv: optionalKey(z.array(z.string().min(1))),
  /** The value of `CLAUDE_PROJECT_DIR` for the command. Default: the working directory. */
  projectDirectory: optionalKey(z.string().min(1)),
})

/** An address may contain `${NAME}`, which is replaced later. */
const address = z.string().refine((url) => url.includes("${") || URL.canParse(url))
const texts = z.record(z.string(), z.string())
const timeout = z.number().min(1) // milliseconds
const SAMPLING_MODES = ["allow", "ask", "deny"] as const

export const mcpServerSchema = z.union(
  [
    z.strictObject({
      type: optionalKey(z.literal("stdio")),
      command: z.string().min(1),
      args: optionalKey(z.array(z.string())),
      env: optionalKey(texts),
      cwd: optionalKey(z.string().min(1)),
      timeout: optionalKey(timeout),
      sampling: optionalKey(z.enum(SAMPLING_MODES)),
      trustReadOnlyHint: optionalKey(z.boolean()),
    }),
    z.strictObject({
      type: optionalKey(z.enum(["http", "streamable-http", "sse"])),
      url: address,
      headers: optionalKey(texts),
      timeout: optionalKey(timeout),
      sampling: optionalKey(z.enum(SAMPLING_MODES)),
      trustReadOnlyHint: optionalKey(z.boolean()),
    }),
  ],
  {
    error:
      "must be { command, args?, env?, cwd?, timeout?, sampling?, trustReadOnlyHint? } for a program or { url, type?, headers?, timeout?, sampling?, trustReadOnlyHint? } for a server on the network",
  },
)

export const settingsSchema = z.strictObject({
  $schema: z.string().optional(),
  /** Switches every layer off: the model gets the conversation unchanged. */
  off: z.boolean(),
  autoCompactEnabled: z.boolean(),
  disableCompact: z.boolean(),
  disableAutoCompact: z.boolean(),
  disableMicrocompact: z.boolean(),
  // a text that is not a number is ignored with a warning, like a percentage out of range
  autoCompactPercent: z
    .number()
    .or(z.string().refine((given) => Number.isNaN(Number(given)), "must be a number"))
    .optional(),
  autoCompactTokens: z.number().optional(),
  /** Instructions for every summary. */
  compactInstructions: z.string().optional(),
  /** The model that writes summaries if the conversation's cache cannot be used for it. */
  summariserModel: z.string().optional(),
  /** The context window of models that are not in the model table. */
  contextWindow: tokens.optional(),
  maxOutputTokens: tokens,
  /** Whether cost decides when to clear and compact. */
  planner: z.enum(PLANNER_MODES),
  /** How long the server caches. An hour costs more to write. */
  cacheLifetime: z.enum(CACHE_LIFETIMES),
  /** When entries are flushed to disk: `always` (each write), after each `turn`, or `never` (the OS decides). */
  flush: z.enum(["always", "turn", "never"]),
  /** Lets telemetry export the content of messages. */
  exportContent: z.boolean(),
  models: z.record(z.string(), modelOverride),
  /** Values of flags: switches turn a feature on or off, figures are its numbers. */
  switches: z.partialRecord(z.enum(SWITCHES.map(({ name }) => name)), z.boolean()),
  figures: z.partialRecord(z.enum(FIGURES.map(({ name }) => name)), z.number()),
  /** By tool name: the length in characters from which a result is offloaded. */
  toolResultLimits: z.record(z.string(), z.int().min(0)),
  /** Further tools that can simply be called again, so that their old results may be cleared. */
  clearableTools: z.array(z.string()),
  /** What is stored across conversations: `auto`, `ask` before each write, `read-only`, or `off`. */
  memory: z.enum(MEMORY_MODES),
  /** The project's name, instead of its remote. Ignored in a file that the repository shares. */
  project: z.string().optional(),
  permissions,
  /** Which commands run in the system's sandbox: `off`, those without an allow rule (`unasked`), or `all`. */
  sandbox: z.enum(SANDBOX_MODES),
  hooks: z.partialRecord(z.enum(HOOK_EVENTS), z.array(hookCommand)),
  mcpServers: z.record(z.string(), mcpServerSchema),
  /** By folder: whether your hooks, allow rules, variables and servers for Claude Code apply. Only your own settings file decides. */
  claudeHome: z.record(z.string(), z.enum(["use", "ignore"])),
})

/** The schema for one source of settings. Created once, because the first use of a schema compiles it, which takes milliseconds. */
export const settingsLayerSchema = settingsSchema.partial()

/** All settings with their values. */
export type Settings = z.infer<typeof settingsSchema>
export type SettingsIssue = z.core.$ZodIssue
