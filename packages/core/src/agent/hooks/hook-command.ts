/**
 * A hook that is a shell command. It gets its input as JSON on standard input, an environment without secrets, and limits of time and
 * output. It ends with everything it started when its time is over, when the query is aborted, and when this process ends.
 */

import type { HookEvent } from "../../base/vocabulary.ts"
import { redact } from "../../model/redact.ts"
import type { Settings } from "../../settings/settings.ts"
import { GuardedProcess, type ProcessEnd } from "../../tools/processes/guarded-process.ts"
import { secretsIn, withoutSecrets } from "../../tools/shell/shell-environment.ts"
import { blockedBy, parseAnswer } from "./hook-answer.ts"
import type { Hook, HookAnswer, HookInput } from "./hooks.ts"

const DEFAULT_TIMEOUT_SECONDS = 60
const BLOCKING_EXIT = 2
const MOST_OUTPUT = 1_000_000 // characters of each stream: a JSON answer must not be cut in the middle
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
  const onFull = () => stop(`it printed more than ${MOST_OUTPUT} characters`)
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
    if (text.length + data.length > MOST_OUTPUT) onFull()
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
