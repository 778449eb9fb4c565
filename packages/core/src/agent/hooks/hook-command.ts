/**
 * A hook that is a shell command. It gets its input as JSON on standard input, an environment without secrets, and limits on time and
 * output. After its time limit, on abort, and when this process exits, it is ended together with all processes it started.
 */
import type { HookEvent } from "../../base/enums.ts"
import { redact } from "../../model/redact.ts"
import type { Settings } from "../../settings/settings.ts"
import { GuardedProcess, type ProcessEnd } from "../tools/processes/guarded-process.ts"
import { secretsIn, withoutSecrets } from "../tools/shell/shell-environment.ts"
import { type Hook, type HookInput, type HookResult, PERMISSIONS } from "./hooks.ts"

const DEFAULT_TIMEOUT_SECONDS = 60
const BLOCKING_EXIT = 2
const MAX_OUTPUT = 1_000_000 // characters of each stream; a JSON answer must not be cut
const MAX_ERROR = 500 // characters of standard error in a report
const GRACE_MS = 200 // between SIGTERM and SIGKILL: an abort should be felt at once

type Environment = Readonly<Record<string, string | undefined>>

/** Creates hooks from the settings. */
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

async function runCommand(run: CommandRun): Promise<HookResult | undefined> {
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
  const [stdout, stderr] = [collectText(child.stdout, onFull), collectText(child.stderr, onFull)]
  child.stdin.end(JSON.stringify(input))
  try {
    if (signal.aborted) onAbort()
    const end = await child.ended
    if (stopped !== undefined) throw new Error(stopped)
    return parseOutput(end, {
      stdout: stdout(),
      stderr: redact(stderr(), secrets),
      event: input.hook_event_name,
      secrets,
    })
  } finally {
    clearTimeout(timer)
    signal.removeEventListener("abort", onAbort)
  }
}

/** Collects output. Decoded as a stream, because a chunk may end within a character. */
function collectText(stream: GuardedProcess["stdout"], onFull: () => void): () => string {
  let text = ""
  stream.setEncoding("utf8").on("data", (data: string) => {
    if (text.length + data.length > MAX_OUTPUT) onFull()
    else text += data
  })
  return () => text
}

interface HookOutput {
  readonly stdout: string
  readonly stderr: string
  readonly event: HookEvent
  readonly secrets: readonly string[]
}

function parseOutput(end: ProcessEnd, { stdout, stderr, event, secrets }: HookOutput): HookResult | undefined {
  if (end.state === "not started") throw new Error(end.why)
  if (end.code === BLOCKING_EXIT) return blockedBy(stderr)
  if (end.code !== 0) {
    const detail = stderr.trim().slice(0, MAX_ERROR).toWellFormed()
    throw new Error(`exit code ${end.code}${detail === "" ? "" : `: ${detail}`}`)
  }
  const answer = parseAnswer(stdout, event)
  return answer && withRedactedTexts(answer, secrets)
}

/** Redacts secrets in all texts except a new input, which must run as the hook wrote it. */
function withRedactedTexts(answer: HookResult, secrets: readonly string[]): HookResult {
  const entries = Object.entries(answer).map(([field, value]) => [
    field,
    typeof value === "string" && field !== "permission" ? redact(value, secrets) : value,
  ])
  return Object.fromEntries(entries) as HookResult
}

/**
 * Parses the output of a hook command: JSON in the format that hooks of other agents use, or plain text. Unknown fields and fields with
 * unexpected types are ignored, so that hooks written for other agents work.
 */
const MAX_CONTEXT = 100_000 // characters for the model
const UNEXPLAINED_BLOCK = "blocked by a hook"
const UNEXPLAINED_STOP = "a hook stopped it"

/** Events whose plain output is context for the model. Other plain output is ignored. */
const OUTPUT_IS_CONTEXT: ReadonlySet<HookEvent> = new Set(["SessionStart", "UserPromptSubmit", "PreCompact"])

function parseAnswer(stdout: string, event: HookEvent): HookResult | undefined {
  const text = stdout.trim().toWellFormed()
  if (text === "") return undefined
  const parsed = objectIn(text)
  if (parsed === undefined) return OUTPUT_IS_CONTEXT.has(event) ? { context: bounded(text) } : undefined
  return withoutMissing({ ...commonAnswer(parsed), ...specificAnswer(parsed, event) })
}

/** For exit code 2: standard error is the reason, and standard output is ignored. */
const blockedBy = (stderr: string): HookResult => ({ block: stderr.trim().toWellFormed() || UNEXPLAINED_BLOCK })

type Fields = Readonly<Record<string, unknown>>
type PartialAnswer = { readonly [Field in keyof HookResult]: HookResult[Field] | undefined }

function commonAnswer(fields: Fields): PartialAnswer {
  const { hookSpecificOutput: specific = {} } = fields
  const context = asText(asFields(specific).additionalContext) ?? asText(fields.additionalContext)
  return {
    block: fields.decision === "block" ? (asText(fields.reason) ?? UNEXPLAINED_BLOCK) : undefined,
    stop:
      fields.continue === false ? (asText(fields.stopReason) ?? asText(fields.reason) ?? UNEXPLAINED_STOP) : undefined,
    context: context === undefined ? undefined : bounded(context),
    message: asText(fields.systemMessage),
  }
}

function specificAnswer(fields: Fields, event: HookEvent): PartialAnswer {
  const specific = asFields(fields.hookSpecificOutput)
  switch (event) {
    case "PreToolUse":
      return toolAnswer(fields, specific)
    case "PermissionRequest":
      return dialogAnswer(fields, specific)
    default:
      return {
        permission: asPermission(specific.permissionDecision),
        output: asText(specific.updatedToolOutput) ?? jsonOf(specific.updatedMCPToolOutput),
      }
  }
}

/** Parses the answer to PreToolUse. `decision: "approve"` is a legacy form of the permission to run. */
function toolAnswer(fields: Fields, specific: Fields): PartialAnswer {
  const approved = fields.decision === "approve" ? "allow" : undefined
  return {
    permission: asPermission(specific.permissionDecision) ?? approved,
    reason: asText(specific.permissionDecisionReason) ?? (approved && asText(fields.reason)),
    input: asInput(specific.updatedInput),
  }
}

/** Parses the answer to PermissionRequest, a question that the user would otherwise get. */
function dialogAnswer(fields: Fields, specific: Fields): PartialAnswer {
  const { behavior, message, updatedInput, interrupt } = asFields(specific.decision)
  const reason = asText(message)
  const stopped = behavior === "deny" && interrupt === true ? { stop: reason ?? UNEXPLAINED_STOP } : {}
  const asTool = toolAnswer(fields, specific)
  return {
    permission: asPermission(behavior) ?? asTool.permission,
    reason: reason ?? asTool.reason,
    input: asInput(updatedInput) ?? asTool.input,
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

/** Returns a string, or `undefined` for other types, so that only text gets into the conversation. */
const asText = (value: unknown): string | undefined => (typeof value === "string" ? value.toWellFormed() : undefined)
const jsonOf = (value: unknown) =>
  value === undefined || value === null ? undefined : (asText(value) ?? JSON.stringify(value))
const asPermission = (value: unknown) => PERMISSIONS.find((known) => known === value)
const bounded = (text: string) => text.slice(0, MAX_CONTEXT).toWellFormed()

/** Returns any value that is present. If it is not an object, the tool's schema refuses it, and the original input does not run instead. */
const asInput = (value: unknown) => (value === undefined || value === null ? undefined : (value as HookResult["input"]))

const withoutMissing = (answer: PartialAnswer): HookResult =>
  Object.fromEntries(Object.entries(answer).filter(([, value]) => value !== undefined)) as HookResult
