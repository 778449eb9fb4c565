/** Options shared by `chat` and `run`, read from the command line and the environment. Pure: opens nothing. */
import { isSafeId, PERMISSION_MODES, type PermissionMode } from "@strata/core"
import { ruleProblems } from "@strata/core/agent"
import { readArguments } from "./arguments.ts"
import { type CommandDescription, type Options, UsageError, type Values } from "./command.ts"

const DEFAULT_MODEL = "claude-opus-5-5"

export type Environment = Readonly<Record<string, string | undefined>>

/** The conversation to start with. */
export type ConversationStart =
  | { readonly from: "new" }
  | { readonly from: "newest" }
  /** An id or a unique prefix. */
  | { readonly from: "id"; readonly id: string }
  /** A transcript of another program. */
  | { readonly from: "file"; readonly file: string }
  /** The user chooses from a list. */
  | { readonly from: "list" }

export interface SessionOptions {
  readonly model: string
  /** Whether the option or the environment sets the model. Otherwise a resumed conversation keeps its own. */
  readonly isModelGiven: boolean
  readonly cwd: string
  readonly start: ConversationStart
  readonly mode?: PermissionMode
  readonly maxTurns?: number
  readonly costLimit?: number
  readonly system?: string
  /** Permission rules in addition to those in the settings. */
  readonly allow: readonly string[]
  /** Trusts the current project settings for this process. */
  readonly trust: boolean
  /** Disables sub-agents, whatever the settings say. */
  readonly noAgents: boolean
}

export const SESSION_OPTIONS = {
  model: {
    kind: "text",
    value: "NAME",
    about: `the model (default: STRATA_MODEL, ANTHROPIC_MODEL or ${DEFAULT_MODEL})`,
  },
  continue: { kind: "flag", about: "continue the newest conversation of this project" },
  resume: {
    kind: "text",
    value: "[ID|FILE]",
    about: "continue this conversation: an id or unique prefix, or a transcript of another program",
  },
  cwd: { kind: "text", value: "DIRECTORY", about: "the project (default: the current directory)" },
  mode: {
    kind: "choice",
    value: "MODE",
    choices: PERMISSION_MODES,
    about: `permissions: ${PERMISSION_MODES.join(", ")}`,
  },
  allow: { kind: "list", value: "RULE", about: "allow without asking, such as Edit or 'Bash(npm test:*)'; repeatable" },
  trust: { kind: "flag", about: "use this project's hooks, MCP servers and allow rules, this time only" },
  "max-turns": { kind: "number", value: "N", min: 1, about: "stop after N requests to the model" },
  "cost-limit": { kind: "dollars", value: "USD", about: "stop when the conversation has cost this much" },
  system: { kind: "text", value: "TEXT", about: "use your own system prompt" },
  "no-agents": { kind: "flag", about: "the agent works alone: it starts no others" },
} as const satisfies Options

/** The model of the option or the environment, or the default. */
export const modelFrom = (given: string | undefined, env: Environment): string =>
  namedModel(given, env) ?? DEFAULT_MODEL

const namedModel = (given: string | undefined, env: Environment): string | undefined =>
  given ?? (env.STRATA_MODEL || env.ANTHROPIC_MODEL || undefined)

export interface CommandLine<O extends Options> {
  readonly options: SessionOptions
  readonly operands: readonly string[]
  /** Values of all options, including those of the command. */
  readonly values: Values<O>
}

export interface CommandLineInput<O extends Options> {
  readonly description: CommandDescription<O>
  readonly args: readonly string[]
  readonly env: Environment
  readonly cwd: string
}

export function readCommandLine<O extends typeof SESSION_OPTIONS>({
  description,
  args,
  env,
  cwd,
}: CommandLineInput<O>): CommandLine<O> {
  const read = readArguments(description, withOptionalId(args))
  const given = read.values as Values<typeof SESSION_OPTIONS>
  const { "max-turns": maxTurns, "cost-limit": costLimit, mode, system } = given
  const model = namedModel(given.model, env)
  const [problem] = ruleProblems({ allow: given.allow, ask: [], deny: [] })
  if (problem !== undefined) throw new UsageError(problem)
  return {
    options: {
      model: model ?? DEFAULT_MODEL,
      isModelGiven: model !== undefined,
      cwd: given.cwd ?? cwd,
      start: conversationStart({ continues: given.continue, resume: given.resume }),
      allow: given.allow,
      trust: given.trust,
      noAgents: given["no-agents"],
      ...(mode === undefined ? {} : { mode }),
      ...(maxTurns === undefined ? {} : { maxTurns }),
      ...(costLimit === undefined ? {} : { costLimit }),
      ...(system === undefined ? {} : { system }),
    },
    operands: read.operands,
    values: read.values,
  }
}

/**
 * Whether a word is the file name of a transcript, as opposed to text that ends with a file. A session in opencode's database is named
 * after a `#`.
 */
export const isTranscriptName = (word: string): boolean => /^\S+(?:\.jsonl?|\.traj|\.db#[\w-]+)$/.test(word)

/** Handles `--resume` with and without an id: the next argument is used if it could be an id or the name of a transcript. */
function withOptionalId(args: readonly string[]): string[] {
  const couldBeId = (word: string | undefined) =>
    word !== undefined && !word.startsWith("-") && (isSafeId(word) || isTranscriptName(word))
  return args.flatMap((word, i) => {
    if (word === "--resume") return [`--resume=${couldBeId(args[i + 1]) ? args[i + 1] : ""}`]
    return args[i - 1] === "--resume" && couldBeId(word) ? [] : [word]
  })
}

function conversationStart({
  continues,
  resume,
}: {
  continues: boolean
  resume: string | undefined
}): ConversationStart {
  if (continues && resume !== undefined) throw new UsageError("Use either --continue or --resume, not both.")
  if (continues) return { from: "newest" }
  if (resume === undefined) return { from: "new" }
  if (resume === "") return { from: "list" }
  return isSafeId(resume) && !isTranscriptName(resume) ? { from: "id", id: resume } : { from: "file", file: resume }
}
