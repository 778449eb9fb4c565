/** Reads the task of `strata run` from the command line, from a pipe, or from both. */
import { fstatSync } from "node:fs"
import { type CommandCall, UsageError } from "../command.ts"

/** Maximum length of a message. */
export const MAX_TASK_CHARACTERS = 1_000_000 // a quarter of a million tokens
/** Time to wait for piped input, because the calling program may leave the pipe open and never write. */
const SILENCE_MS = 3_000

export interface TaskInput {
  readonly stdin: CommandCall["stdin"]
  readonly complain: (text: string) => void
}

export interface Task {
  readonly text: string
  /** The instruction, in which file mentions are resolved. */
  readonly order: string
  /** The part that the user wrote. Piped text is content, even if there is nothing else. */
  readonly written: string
}

export async function readTask(operands: readonly string[], { stdin, complain }: TaskInput): Promise<Task> {
  const [named, ...more] = operands
  if (more.length > 0)
    throw new UsageError(
      operands.some((word) => /\s/.test(word))
        ? `strata run takes one task, and these are several: ${operands.map((word) => `"${word}"`).join(", ")}. Transcripts for --resume are files that end with .jsonl, .json or .traj.`
        : `Put the task in quotes: strata run "${operands.join(" ")}"`,
    )
  const task = named === "-" ? undefined : named
  const piped =
    stdin && (isPiped(stdin) || named === "-") ? await readPipe({ stdin, waits: task === undefined, complain }) : ""
  const text = [task ?? "", piped].map((part) => part.trim()).filter(Boolean)
  if (text.length === 0) throw new UsageError('strata run needs a task, such as: strata run "Explain this project"')
  return { text: text.join("\n\n"), order: text[0]!, written: task?.trim() ?? "" }
}

/** Whether standard input is a pipe or a file. Other inputs, such as `/dev/null`, have no text to wait for. */
function isPiped({ fd }: PipeOptions["stdin"]): boolean {
  try {
    const input = fstatSync(fd)
    return input.isFIFO() || input.isFile() || input.isSocket()
  } catch {
    return false // standard input is closed
  }
}

interface PipeOptions {
  readonly stdin: NonNullable<CommandCall["stdin"]>
  /** Whether to wait without limit, because the task itself is in the pipe. */
  readonly waits: boolean
  readonly complain: (text: string) => void
}

async function readPipe({ stdin, waits, complain }: PipeOptions): Promise<string> {
  let text = ""
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const silence = waits ? undefined : setTimeout(resolve, SILENCE_MS)
  stdin.setEncoding("utf8")
  stdin.on("data", (piece: string) => {
    clearTimeout(silence)
    text += piece
    if (text.length > MAX_TASK_CHARACTERS)
      reject(
        new UsageError(
          `The piped input is longer than ${MAX_TASK_CHARACTERS.toLocaleString("en")} characters. Nothing was sent. Write it to a file and name the file in the task.`,
        ),
      )
  })
  stdin.once("end", resolve).once("error", reject)
  try {
    await promise
  } finally {
    clearTimeout(silence)
    stdin.destroy()
  }
  if (text === "" && !waits && !stdin.readableEnded)
    complain("- Standard input is open, but nothing arrived for 3 seconds. The task continues without it.\n")
  return text
}
