/**
 * What is known of callers' lists, in one file of lines for each place. A line that cannot be read costs only
 * that a list is not known again and begins a new conversation. The file is written again when it is large.
 */
import { appendFile, mkdir, readFile, rename, writeFile } from "node:fs/promises"
import { dirname } from "node:path"
import { DIRECTORY_MODE, FILE_MODE } from "./layout.ts"

const LARGE = 16_000_000 // bytes

/** @internal */
export interface LogLine {
  readonly conversation: string
  readonly caller: string
  readonly tools: string
  readonly links: readonly string[]
}

export function callerLog(path: string) {
  let last: Promise<unknown> = Promise.resolve()
  let made: Promise<unknown> | undefined
  const inOrder = <T>(work: () => Promise<T>): Promise<T> => {
    const run = last.then(work)
    last = run.catch(() => undefined)
    return run
  }
  const read = async (): Promise<readonly LogLine[]> => {
    const text = await readFile(path, "utf8").catch(() => "")
    const lines = text.split("\n").flatMap(lineIn)
    if (text.length > LARGE) await replace(path, lines.slice(Math.floor(lines.length / 2)))
    return lines
  }
  return {
    read: () => inOrder(read),
    append: (line: LogLine) =>
      inOrder(async () => {
        made ??= mkdir(dirname(path), { recursive: true, mode: DIRECTORY_MODE })
        await made
        await appendFile(path, `${JSON.stringify(line)}\n`, { mode: FILE_MODE })
      }),
  }
}

async function replace(path: string, lines: readonly LogLine[]): Promise<void> {
  const draft = `${path}.draft`
  await writeFile(draft, lines.map((line) => `${JSON.stringify(line)}\n`).join(""), { mode: FILE_MODE })
  await rename(draft, path)
}

function lineIn(text: string): readonly LogLine[] {
  try {
    const line = JSON.parse(text) as Partial<LogLine> | null
    const { conversation, caller, tools, links } = line ?? {}
    const isText = [conversation, caller, tools].every((value) => typeof value === "string")
    const isLine = isText && Array.isArray(links) && links.every((link) => typeof link === "string")
    return isLine ? [line as LogLine] : []
  } catch {
    return []
  }
}
