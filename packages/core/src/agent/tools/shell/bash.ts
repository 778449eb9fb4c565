/** Bash: runs a command line. At its timeout, a command is ended with all processes it started. */
import * as z from "zod/v4"
import { type Clock, callAfter } from "../../../base/clock.ts"
import type { PermissionQuestion, Tool, ToolContext, ToolOutput } from "../../../tools/tool.ts"
import { compareTrees, scanTree } from "./changed-files.ts"
import { commandFacts, commandShape, filesTouched } from "./command/command-facts.ts"
import { runsUnapprovedInSandbox } from "./guarded-run.ts"
import type { ShellEnd, ShellProcess, StopReason } from "./shell-process.ts"
import {
  DEFAULT_TIMEOUT_MS,
  isDirectory,
  leaveMissingDirectory,
  MAX_TIMEOUT_MS,
  type RunningShell,
  SHORT_OUTPUT_CHARACTERS,
  type ShellSession,
} from "./shell-session.ts"

const inputSchema = z.object({
  command: z.string().min(1).describe("The command line, as for bash -c."),
  timeout: z.number().positive().optional().describe("Timeout in milliseconds. Default 120000, at most 600000."),
  description: z.string().optional().describe("What it does, in five to ten words, for the person watching."),
  run_in_background: z
    .boolean()
    .optional()
    .describe("Return at once with an id; BashOutput reads what it prints, KillShell ends it."),
})
type BashInput = z.infer<typeof inputSchema>

const DESCRIPTION = `Runs a command line in bash and returns its output, standard output and error together, in order.

- The working directory is kept between calls: after \`cd packages/core\` the next command starts there. Variables and functions are not kept.
- There is no input and no terminal. Programs that ask questions or open an editor fail, so pass the answers as options (\`--yes\`, \`-m "…"\`).
- At its timeout a command is ended, with everything it started. Processes started with \`&\` end when the command does. For servers and watchers set run_in_background.
- Of a long output you see the beginning and the end; a file has the rest. If you know what you need, filter it in the command (\`| tail -50\`, \`--silent\`).
- If a result starts with "Exit code", the command failed.
- To read, search and change files use Read, Grep, Glob, Edit and Write: their results are shorter, and changes are tracked.
- Variables that hold secrets, such as API keys and tokens, are not in the environment.`

const SUMMARY_CHARACTERS = 200

export function bashTool(session: ShellSession): Tool<BashInput> {
  return {
    name: "Bash",
    description: DESCRIPTION,
    inputSchema,
    shortResult: SHORT_OUTPUT_CHARACTERS,
    readOnly: ({ command, run_in_background }) =>
      !run_in_background && commandShape(command, session.options).isReadOnly,
    question: (input, context) => question(input, { context, session }),
    async execute(input, context) {
      const gone = await leaveMissingDirectory(context.directory)
      if (gone !== undefined) {
        return failed(
          `The working directory ${gone} no longer exists, so the command was not run. It is ${context.directory.get()} now.`,
        )
      }
      const changesSince = await trackChanges(input, session, context)
      if (context.signal.aborted) return failed("Interrupted before the command was started.")
      const shell = await session.start(input.command, context)
      if (input.run_in_background) return runInBackground(session, shell, input)
      const timeoutMs = timeoutOf(input, session)
      const end = await endWithin(shell, timeoutMs, context)
      const note = await followDirectory(end, context)
      const onDisk = await changesSince()
      const limits = { timeoutMs, ...(shell.waitMs === undefined ? {} : { waitMs: shell.waitMs }) }
      const { text } = shell.output.take()
      return { ...asResult({ end, text, note: note ?? confinedNote(shell, end, text), limits }), ...onDisk }
    },
  }
}

interface QuestionContext {
  readonly context: ToolContext
  readonly session: ShellSession
}

async function question(
  { command, description, run_in_background }: BashInput,
  { context, session }: QuestionContext,
): Promise<PermissionQuestion> {
  const [firstLine = "", ...more] = command.trim().split("\n")
  const shown = firstLine.length > SUMMARY_CHARACTERS ? `${firstLine.slice(0, SUMMARY_CHARACTERS)}…` : firstLine
  const directory = context.directory.get()
  const project = session.projectAround(directory)
  const hasSandbox = await runsUnapprovedInSandbox(context)
  const read = commandFacts(command, { directory, project, env: context.env, shell: session.options.shell, hasSandbox })
  const facts = run_in_background ? { ...read, isReadOnly: false } : read // it may wait forever without anyone noticing
  return {
    kind: facts.isReadOnly ? "read" : "execute",
    summary: more.length > 0 ? `${shown} … (${more.length + 1} lines)` : shown,
    subject: command,
    paths: filesTouched(facts),
    command: facts,
    ...(more.length > 0 || description ? { preview: [description, command].filter(Boolean).join("\n\n") } : {}),
  }
}

/** Records the project's files. The returned function compares them again and lists the changed ones. */
async function trackChanges(input: BashInput, session: ShellSession, { directory }: ToolContext) {
  if (input.run_in_background || commandShape(input.command, session.options).isReadOnly) return async () => ({})
  const root = session.projectAround(directory.get())
  const scanOptions = { without: session.options.ignoredDirectories ?? [] }
  const before = await scanTree(root, scanOptions)
  return async (): Promise<Pick<ToolOutput, "filesChanged">> => {
    const filesChanged = compareTrees(before, await scanTree(root, scanOptions))
    return filesChanged.files.length > 0 ? { filesChanged } : {}
  }
}

function timeoutOf({ timeout }: BashInput, { options }: ShellSession): number {
  return Math.min(timeout ?? options.timeoutMs ?? DEFAULT_TIMEOUT_MS, options.maxTimeoutMs ?? MAX_TIMEOUT_MS)
}

async function endWithin(shell: RunningShell, timeoutMs: number, { signal, clock }: ToolContext): Promise<ShellEnd> {
  const { process, waitMs } = shell
  const timer = setTimeout(() => process.stop("timeout"), timeoutMs)
  const onAbort = () => process.stop("aborted")
  signal.addEventListener("abort", onAbort, { once: true })
  const endWatch = waitMs === undefined ? () => undefined : endIfWaiting(process, { clock, waitMs })
  if (signal.aborted) onAbort()
  try {
    return await process.ended
  } finally {
    endWatch()
    clearTimeout(timer)
    signal.removeEventListener("abort", onAbort)
  }
}

/** Moves a command to the background. Only an explicit timeout applies, because a server runs as long as the conversation. */
function runInBackground(session: ShellSession, shell: RunningShell, input: BashInput): ToolOutput {
  session.sendToBackground(shell)
  if (input.timeout !== undefined) {
    const timer = setTimeout(() => shell.process.stop("timeout"), timeoutOf(input, session))
    shell.process.ended.then(() => clearTimeout(timer))
  }
  return { content: `Running in the background as ${shell.id}. BashOutput reads what it prints, KillShell ends it.` }
}

/** Updates the working directory to the one in which the command ended. Returns a note for the model if it no longer exists. */
async function followDirectory(end: ShellEnd, { directory }: ToolContext): Promise<string | undefined> {
  if (end.state !== "exited" || end.directory === directory.get()) return undefined
  if (end.directory !== undefined && (await isDirectory(end.directory))) {
    directory.set(end.directory)
    return undefined
  }
  const gone = await leaveMissingDirectory(directory)
  return gone === undefined ? undefined : `The working directory ${gone} is gone; it is ${directory.get()} now.`
}

/** A note for a command that probably failed because of the sandbox, so that the model does not look for another cause. */
function confinedNote({ isConfined }: RunningShell, end: ShellEnd, text: string): string | undefined {
  if (!isConfined || end.state !== "exited" || end.code === 0) return undefined
  return /Read-only file system|EROFS|ENETUNREACH|Network is unreachable|name resolution|Could not resolve host/i.test(
    text,
  )
    ? "It ran in a sandbox, read-only and without network, because no one was asked about it. A rule of the user's that allows the command runs it outside."
    : undefined
}

/** Result of a command without output. */
export const NO_OUTPUT = "(no output)"

interface ShellResult {
  readonly end: ShellEnd
  readonly text: string
  readonly note: string | undefined
  readonly limits: Limits
}

interface Limits {
  readonly timeoutMs?: number
  readonly waitMs?: number
}

function asResult({ end, text, note, limits }: ShellResult): ToolOutput {
  const heading = headingOf(end, limits)
  const content = [heading, text.trimEnd(), note].filter((part) => part !== undefined && part !== "").join("\n")
  return { content: content || NO_OUTPUT, ...(heading === undefined ? {} : { isError: true }) }
}

/** First line of the result if the command failed. */
export function headingOf(end: ShellEnd, limits: Limits = {}): string | undefined {
  switch (end.state) {
    case "exited":
      if (end.code === 0) return undefined
      return end.signal ? `Exit code ${end.code} (${end.signal})` : `Exit code ${end.code}`
    case "stopped":
      return `${stopHeading(end.why, limits)} The command and everything it started were ended.`
    case "not started":
      return `The command could not be started (${end.why}).`
  }
}

function stopHeading(why: StopReason, { timeoutMs, waitMs }: Limits): string {
  switch (why) {
    case "timeout":
      return timeoutMs === undefined ? "Timed out." : `Timed out after ${timeoutMs / 1_000} s.`
    case "aborted":
      return "Interrupted."
    case "killed":
      return "Killed."
    case "waiting": {
      const waited = waitMs === undefined ? "It waited" : `It waited for ${waitMs / 1_000} s`
      return `${waited} without output or work. To let it wait, set run_in_background: the user is asked.`
    }
    case "closed":
      return "The conversation was closed."
  }
}

const failed = (content: string): ToolOutput => ({ content, isError: true })

/**
 * Ends commands that wait forever, such as `cat` on a pipe without a writer, or `tail -f`: they print nothing and their processes do no
 * work.
 */
const POLLS = 5 // in the time after which a command counts as waiting
const MIN_SHARE = 0.01 // of a processor; `tail -f` polls its file every second and uses less

interface Watch {
  readonly clock: Clock
  readonly waitMs: number
}

/** Watches a process and stops it if it only waits. Call the returned function to end the watch. */
function endIfWaiting(process: ShellProcess, { clock, waitMs }: Watch): () => void {
  let isOver = false
  let cancel = () => {}
  let since = clock.now().getTime()
  let before: Awaited<ReturnType<ShellProcess["work"]>>
  const look = async () => {
    const now = clock.now().getTime()
    const work = await process.work()
    if (isOver || work === undefined) return
    const hasWorked =
      !before ||
      work.isBusy ||
      work.chunks !== before.chunks ||
      work.diskBytes !== before.diskBytes ||
      String(work.pids) !== String(before.pids) ||
      work.processorMs - before.processorMs > MIN_SHARE * waitMs
    if (hasWorked) {
      since = now
      before = work
    } else if (now - since >= waitMs) {
      void process.stop("waiting")
      return
    }
    cancel = callAfter(clock, waitMs / POLLS, look)
  }
  cancel = callAfter(clock, waitMs / POLLS, look)
  return () => {
    isOver = true
    cancel()
  }
}
