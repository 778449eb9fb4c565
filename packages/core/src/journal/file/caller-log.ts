/**
 * What is known of callers' lists, in one file of lines for each place. A line that cannot be read costs only that a list is not known
 * again and begins a new conversation. The file is written again when it is large.
 */
import { appendFile, mkdir, readFile, rename, writeFile } from "node:fs/promises"
import { dirname } from "node:path"
import { DIRECTORY_MODE, FILE_MODE } from "./layout.ts"

const LARGE = 16_000_000 // bytes

/** One conversation of a caller, and how far its list is known. */
export interface CallerLine {
  readonly conversation: string
  /** Digests of id and thread, and of the tools. Empty: the caller has no id. */
  readonly caller: string
  readonly tools: string
  readonly links: readonly string[]
  /** Those of the list without its calls, as a caller has it that keeps the last words of each turn. */
  readonly words?: readonly string[]
  /** Those at which the list ended then. */
  readonly ends?: readonly string[]
}

/** Where lines are kept between processes. */
export interface CallerLog {
  read(): Promise<readonly CallerLine[]>
  append(line: CallerLine): Promise<void>
}

export function callerLog(path: string): CallerLog {
  let last: Promise<unknown> = Promise.resolve()
  let made: Promise<unknown> | undefined
  const inOrder = <T>(work: () => Promise<T>): Promise<T> => {
    const run = last.then(work)
    last = run.catch(() => undefined)
    return run
  }
  const read = async (): Promise<readonly CallerLine[]> => {
    const text = await readFile(path, "utf8").catch(() => "")
    const lines = text.split("\n").flatMap(lineIn)
    // a file that cannot be written again is read all the same
    if (text.length > LARGE) await replace(path, lines.slice(Math.floor(lines.length / 2))).catch(() => undefined)
    return lines
  }
  return {
    read: () => inOrder(read),
    append: (line: CallerLine) =>
      inOrder(async () => {
        made ??= mkdir(dirname(path), { recursive: true, mode: DIRECTORY_MODE })
        try {
          await made
          await appendFile(path, `${JSON.stringify(line)}\n`, { mode: FILE_MODE })
        } catch (error) {
          made = undefined // the disk may have room again, or the folder was taken away
          throw error
        }
      }),
  }
}

async function replace(path: string, lines: readonly CallerLine[]): Promise<void> {
  const draft = `${path}.draft`
  await writeFile(draft, lines.map((line) => `${JSON.stringify(line)}\n`).join(""), { mode: FILE_MODE })
  await rename(draft, path)
}

function lineIn(text: string): readonly CallerLine[] {
  try {
    const line = JSON.parse(text) as Partial<CallerLine> | null
    const { conversation, caller, tools, links, words = [], ends = [] } = line ?? {}
    const isText = [conversation, caller, tools].every((value) => typeof value === "string")
    const areLists = [links, words, ends].every(
      (list) => Array.isArray(list) && list.every((link) => typeof link === "string"),
    )
    return isText && areLists ? [line as CallerLine] : []
  } catch {
    return []
  }
}
