/**
 * Cleans up when the window gets narrower. Terminals then break the rows of the last frame into more rows than the renderer will erase.
 * This erases the additional ones just before the renderer draws.
 */
import { stripVTControlCharacters } from "node:util"
import { widthOf } from "../../display/text.ts"

const ERASE_AND_UP = "\u001b[2K\u001b[1A"

/** A proxy of the output for the renderer. */
export function tidyOnResize(stdout: NodeJS.WriteStream): NodeJS.WriteStream {
  let frame: readonly string[] = []
  let columns = stdout.columns
  stdout.on("resize", () => {
    const more = stdout.columns < columns ? additionalRows(frame, stdout.columns) : 0
    columns = stdout.columns
    if (more > 0) stdout.write(ERASE_AND_UP.repeat(Math.min(more, stdout.rows)))
  })
  const write = (chunk: string, ...rest: readonly never[]): boolean => {
    if (chunk.includes("\n")) frame = stripVTControlCharacters(chunk).split("\n")
    return stdout.write(chunk, ...rest)
  }
  return new Proxy(stdout, {
    get(target, name) {
      if (name === "write") return write
      const value: unknown = Reflect.get(target, name)
      return typeof value === "function" ? value.bind(target) : value
    },
  })
}

const additionalRows = (lines: readonly string[], columns: number): number =>
  lines.reduce((sum, line) => sum + Math.max(0, Math.ceil(widthOf(line) / columns) - 1), 0)
