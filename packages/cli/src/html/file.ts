/** Writes a page to a file. An earlier page is replaced, other files are not. */

import { access, constants, open, rename, rm, stat, writeFile } from "node:fs/promises"
import { basename, dirname, join, resolve } from "node:path"
import { type Markup, PAGE_PREFIX } from "@strata/page"
import { UsageError } from "../command.ts"
import { formatCompact } from "../display/numbers.ts"
import type { Terminal } from "../display/terminal.ts"

/** Checks that a page may be written to the path and returns it as an absolute path. Called before the work, so that no result is lost. */
export async function checkPagePath(file: string, cwd: string): Promise<string> {
  const path = resolve(cwd, file)
  const found = await stat(path).catch(() => undefined)
  if (found?.isDirectory())
    throw new UsageError(`${file} is a directory. Name a file in it, such as ${join(file, "page.html")}.`)
  if (found && !(await isPage(path)))
    throw new UsageError(
      `${file} exists and is not a page of Strata. Nothing was written; choose another name after --html.`,
    )
  const directory = await stat(dirname(path)).catch(() => undefined)
  if (!directory?.isDirectory())
    throw new UsageError(`The directory ${dirname(file)} does not exist. Create it, then run the command again.`)
  await access(dirname(path), constants.W_OK).catch((error: unknown) => {
    throw new UsageError(cannotWrite(path, error))
  })
  return path
}

function cannotWrite(path: string, error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException
  return `The page cannot be written to ${path} (${code ?? message}). Choose another place after --html.`
}

async function isPage(path: string): Promise<boolean> {
  try {
    await using file = await open(path)
    const { buffer, bytesRead } = await file.read(Buffer.alloc(PAGE_PREFIX.length), 0, PAGE_PREFIX.length, 0)
    return buffer.subarray(0, bytesRead).toString() === PAGE_PREFIX
  } catch {
    return false
  }
}

/** Writes the page and reports it on standard error, so that the output of `--json` stays valid. */
export async function writePage(path: string, page: Markup, terminal: Terminal): Promise<void> {
  const text = page.toString()
  const draft = join(dirname(path), `.${basename(path)}.${process.pid}.draft`)
  try {
    await writeFile(draft, text, { flag: "wx" }) // protects against links in shared directories
    await rename(draft, path)
  } catch (error) {
    await rm(draft, { force: true })
    throw new UsageError(cannotWrite(path, error))
  }
  terminal.complain(`Wrote ${path} (${formatCompact(Buffer.byteLength(text))} bytes). Open it in a browser.\n`)
}
