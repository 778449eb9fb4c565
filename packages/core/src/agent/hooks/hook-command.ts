/**
 * A hook that is a shell command. It gets its input as JSON on standard input, an environment without secrets, and limits of time and
 * output. It ends with everything it started when its time is over, when the query is aborted, and when this process ends.
 */
import type { HookEvent } from "../../base/vocabulary.ts"
import { redact } from "../../model/redact.ts"
import type { Settings } from "../../settings/settings.ts"
import { GuardedProcess, type ProcessEnd } from "../tools/processes/guarded-process.ts"
import { secretsIn, withoutSecrets } from "../tools/shell/shell-environment.ts"
import { type Hook, type HookAnswer, type HookInput, PERMISSIONS } from "./hooks.ts"

const DEFAULT_TIMEOUT_SECONDS = 60
const BLOCKING_EXIT = 2
const MAX_OUTPUT = 1_000_000 // characters of each stream: a JSON answer must not be cut in the middle
const SHOWN_ERROR = 500 // characters of standard error in a report
const GRACE_MS = 200 // between SIGTERM and SIGKILL: an abort should be felt at once

type Environment = Readonly<Record<string, string | undefined>>

/** The hooks of the settings. */
export function commandHooks(settings: Settings["hooks"], env: Environment): readonly Hook[] {
  const secrets = secretsIn(env)
  return Object.entries(settings).flatMap(([event, commands]) =>
    (commands ?? []).map((given): Hook => {
      const { command, matcher, timeoutSeconds = DEFAULT_TIMEOUT_SECONDS, passEnv = [], projectDirectory } = given
      const project = projectDirectory === undefined ? {} : { CLAUDE_PROJECT_DIR: projectDirectory }
      const own = { command, timeoutSeconds, secrets, env: { ...withoutSecrets(env, { keep: passEnv }), ...project } }
      return {
        event: event as HookEvent,
        name: redact(command, secrets),
        ...(matcher === undefined ? {} : { matcher }),
        isForClaudeCode: projectDirectory !== undefined,
        run: (input, { signal }) => runCommand({ ...own, input, signal }),
      }
    }),
  )
}

interface CommandRun {
  readonly command: string
  readonly input: HookInput
  readonly timeoutSeconds: number
  readonly env: Readonly<Record<string, string>>
  readonly secrets: readonly string[]
  readonly signal: AbortSignal
}

async function runCommand(run: CommandRun): Promise<HookAnswer | undefined> {
  const { command, input, timeoutSeconds, env, secrets, signal } = run
  const child = new GuardedProcess({ command: "/bin/sh", args: ["-c", command], env, directory: input.cwd })
  let stopped: string | undefined
  const stop = (why: string) => {
    stopped ??= why
    void child.stop(GRACE_MS)
  }
  const onAbort = () => stop("it was interrupted")
  const timer = setTimeout(() => stop(`it took longer than ${timeoutSeconds} s`), timeoutSeconds * 1000)
  signal.addEventListener("abort", onAbort, { once: true })
  const onFull = () => stop(`it printed more than ${MAX_OUTPUT} characters`)
  const [stdout, stderr] = [collected(child.stdout, onFull), collected(child.stderr, onFull)]
  child.stdin.end(JSON.stringify(input))
  try {
    if (signal.aborted) onAbort()
    const end = await child.ended
    if (stopped !== undefined) throw new Error(stopped)
    return answerOf(end, { stdout: stdout(), stderr: redact(stderr(), secrets), event: input.hook_event_name, secrets })
  } finally {
    clearTimeout(timer)
    signal.removeEventListener("abort", onAbort)
  }
}

/** Decoded as a stream, because what is read may end in the middle of a character. */
function collected(stream: GuardedProcess["stdout"], onFull: () => void): () => string {
  let text = ""
  stream.setEncoding("utf8").on("data", (data: string) => {
    if (text.length + data.length > MAX_OUTPUT) onFull()
    else text += data
  })
  return () => text
}

interface Printed {
  readonly stdout: string
  readonly stderr: string
  readonly event: HookEvent
  readonly secrets: readonly string[]
}

function answerOf(end: ProcessEnd, { stdout, stderr, event, secrets }: Printed): HookAnswer | undefined {
  if (end.state === "not started") throw new Error(end.why)
  if (end.code === BLOCKING_EXIT) return blockedBy(stderr)
  if (end.code !== 0) {
    const said = stderr.trim().slice(0, SHOWN_ERROR).toWellFormed()
    throw new Error(`exit code ${end.code}${said === "" ? "" : `: ${said}`}`)
  }
  const answer = parseAnswer(stdout, event)
  return answer && withRedactedTexts(answer, secrets)
}

/** A new input is left as it is: it must run as the hook wrote it. */
function withRedactedTexts(answer: HookAnswer, secrets: readonly string[]): HookAnswer {
  const entries = Object.entries(answer).map(([field, value]) => [
    field,
    typeof value === "string" && field !== "permission" ? redact(value, secrets) : value,
  ])
  return Object.fromEntries(entries) as HookAnswer
}

/**
 * Reads what a hook's command printed: JSON in the shape that hooks of other agents use, or plain text. Fields that are unknown or hold
 * something else than expected are ignored, so that a hook written for another agent works here.
 */
const MAX_CONTEXT = 100_000 // characters for the model
const UNEXPLAINED_BLOCK = "blocked by a hook"
const UNEXPLAINED_STOP = "a hook stopped it"

/** Events whose plain output is context for the model. Other plain output is ignored. */
const OUTPUT_IS_CONTEXT: ReadonlySet<HookEvent> = new Set(["SessionStart", "UserPromptSubmit", "PreCompact"])

function parseAnswer(stdout: string, event: HookEvent): HookAnswer | undefined {
  const text = stdout.trim().toWellFormed()
  if (text === "") return undefined
  const parsed = objectIn(text)
  if (parsed === undefined) return OUTPUT_IS_CONTEXT.has(event) ? { context: bounded(text) } : undefined
  return withoutMissing({ ...commonAnswer(parsed), ...specificAnswer(parsed, event) })
}

/** Exit code 2: standard error is the reason, and standard output does not count. */
const blockedBy = (stderr: string): HookAnswer => ({ block: stderr.trim().toWellFormed() || UNEXPLAINED_BLOCK })

type Fields = Readonly<Record<string, unknown>>
type Parsed = { readonly [Field in keyof HookAnswer]: HookAnswer[Field] | undefined }

function commonAnswer(fields: Fields): Parsed {
  const { hookSpecificOutput: specific = {} } = fields
  const context = wordsIn(asFields(specific).additionalContext) ?? wordsIn(fields.additionalContext)
  return {
    block: fields.decision === "block" ? (wordsIn(fields.reason) ?? UNEXPLAINED_BLOCK) : undefined,
    stop:
      fields.continue === false
        ? (wordsIn(fields.stopReason) ?? wordsIn(fields.reason) ?? UNEXPLAINED_STOP)
        : undefined,
    context: context === undefined ? undefined : bounded(context),
    message: wordsIn(fields.systemMessage),
  }
}

function specificAnswer(fields: Fields, event: HookEvent): Parsed {
  const specific = asFields(fields.hookSpecificOutput)
  switch (event) {
    case "PreToolUse":
      return toolAnswer(fields, specific)
    case "PermissionRequest":
      return dialogAnswer(fields, specific)
    default:
      return {
        permission: permissionIn(specific.permissionDecision),
        output: wordsIn(specific.updatedToolOutput) ?? jsonOf(specific.updatedMCPToolOutput),
      }
  }
}

/** `decision: "approve"` is an old spelling of the permission to run. */
function toolAnswer(fields: Fields, specific: Fields): Parsed {
  const approved = fields.decision === "approve" ? "allow" : undefined
  return {
    permission: permissionIn(specific.permissionDecision) ?? approved,
    reason: wordsIn(specific.permissionDecisionReason) ?? (approved && wordsIn(fields.reason)),
    input: inputIn(specific.updatedInput),
  }
}

/** The answer to a question that a person would get. */
function dialogAnswer(fields: Fields, specific: Fields): Parsed {
  const { behavior, message, updatedInput, interrupt } = asFields(specific.decision)
  const reason = wordsIn(message)
  const stopped = behavior === "deny" && interrupt === true ? { stop: reason ?? UNEXPLAINED_STOP } : {}
  const asTool = toolAnswer(fields, specific)
  return {
    permission: permissionIn(behavior) ?? asTool.permission,
    reason: reason ?? asTool.reason,
    input: inputIn(updatedInput) ?? asTool.input,
    ...stopped,
  }
}

function objectIn(text: string): Fields | undefined {
  try {
    const parsed: unknown = JSON.parse(text)
    return typeof parsed === "object" && parsed !== null && !Array.isArray(parsed) ? (parsed as Fields) : undefined
  } catch {
    return undefined
  }
}

const asFields = (value: unknown): Fields => (typeof value === "object" && value !== null ? (value as Fields) : {})

/** Only text gets into the conversation. */
const wordsIn = (value: unknown): string | undefined => (typeof value === "string" ? value.toWellFormed() : undefined)
const jsonOf = (value: unknown) =>
  value === undefined || value === null ? undefined : (wordsIn(value) ?? JSON.stringify(value))
const permissionIn = (value: unknown) => PERMISSIONS.find((known) => known === value)
const bounded = (text: string) => text.slice(0, MAX_CONTEXT).toWellFormed()

/** Anything given counts, even if it is no object: the tool's schema refuses it, and the original does not run in its place. */
const inputIn = (value: unknown) => (value === undefined || value === null ? undefined : (value as HookAnswer["input"]))

const withoutMissing = (answer: Parsed): HookAnswer =>
  Object.fromEntries(Object.entries(answer).filter(([, value]) => value !== undefined)) as HookAnswer
