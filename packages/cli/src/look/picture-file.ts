/** Writes the picture of a report. It replaces an earlier picture, and never anything else. */
import { open, rename, rm, stat, writeFile } from "node:fs/promises"
import { basename, dirname, join, resolve } from "node:path"
import { PICTURE_BEGINNING } from "@strata/page"
import { UsageError } from "../command.ts"
import type { Terminal } from "../display/terminal.ts"

/** The absolute path, if a picture may be written there. Asked before the work. */
export async function checkPicturePlace(file: string, cwd: string): Promise<string> {
  const path = resolve(cwd, file)
  const found = await stat(path).catch(() => undefined)
  if (found && !(await isPicture(path)))
    throw new UsageError(
      `${file} exists and is no picture of strata look. Nothing was written; choose another name after --picture.`,
    )
  const directory = await stat(dirname(path)).catch(() => undefined)
  if (!directory?.isDirectory())
    throw new UsageError(`The directory ${dirname(path)} does not exist. Create it, then run the command again.`)
  return path
}

async function isPicture(path: string): Promise<boolean> {
  try {
    await using file = await open(path)
    const { buffer, bytesRead } = await file.read(
      Buffer.alloc(PICTURE_BEGINNING.length),
      0,
      PICTURE_BEGINNING.length,
      0,
    )
    return buffer.subarray(0, bytesRead).toString() === PICTURE_BEGINNING
  } catch {
    return false
  }
}

/** Says so on standard error. */
export async function writePicture(path: string, picture: string, terminal: Terminal): Promise<void> {
  const draft = join(dirname(path), `.${basename(path)}.${process.pid}.draft`)
  try {
    await writeFile(draft, picture, { flag: "wx" }) // in a shared directory, someone may have put a link there
    await rename(draft, path)
  } catch (error) {
    await rm(draft, { force: true })
    const { code, message } = error as NodeJS.ErrnoException
    throw new UsageError(
      `The picture cannot be written to ${path} (${code ?? message}). Choose another place after --picture.`,
    )
  }
  terminal.complain(`Picture: ${path}\n`)
}
