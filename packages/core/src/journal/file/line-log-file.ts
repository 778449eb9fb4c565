/** A log of lines in one file. It is written again when it is large: the older half goes. */
import { appendFile, mkdir, readFile, rename, writeFile } from "node:fs/promises"
import { dirname } from "node:path"
import { Queue } from "../../base/queue.ts"
import type { LineLog } from "../line-log.ts"
import { DIRECTORY_MODE, FILE_MODE } from "./layout.ts"

const LARGE = 16_000_000 // bytes

export function lineLogFile(path: string): LineLog {
  const queue = new Queue()
  let made: Promise<unknown> | undefined
  const read = async (): Promise<readonly string[]> => {
    const text = await readFile(path, "utf8").catch(() => "")
    const lines = text.split("\n").slice(0, -1) // after the last line end is nothing, or a line that was not finished
    // a file that cannot be written again is read all the same
    if (text.length > LARGE) await replace(path, lines.slice(Math.floor(lines.length / 2))).catch(() => undefined)
    return lines
  }
  return {
    read: () => queue.run(read),
    append: (line) =>
      queue.run(async () => {
        made ??= mkdir(dirname(path), { recursive: true, mode: DIRECTORY_MODE })
        try {
          await made
          await appendFile(path, `${line}\n`, { mode: FILE_MODE })
        } catch (error) {
          made = undefined // the disk may have room again, or the folder was taken away
          throw error
        }
      }),
  }
}

async function replace(path: string, lines: readonly string[]): Promise<void> {
  const draft = `${path}.draft`
  await writeFile(draft, lines.map((line) => `${line}\n`).join(""), { mode: FILE_MODE })
  await rename(draft, path)
}
