/** Runs the user's editor, `VISUAL` or `EDITOR`, on a private copy of a text. The copy is removed afterwards. */
import { spawn } from "node:child_process"
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { CommandCall } from "./command.ts"

export interface EditTextOptions {
  readonly text: string
  /** File name of the copy. Its extension tells the editor the format. */
  readonly name: string
  readonly env: CommandCall["env"]
}

/** The user's editor command, which may have arguments, such as `code --wait`. */
export const findEditor = (env: CommandCall["env"]): string | undefined => env.VISUAL || env.EDITOR || undefined

/** Resolves with the saved text. */
export async function editText({ text, name, env }: EditTextOptions): Promise<string> {
  const editor = findEditor(env)
  if (!editor) throw new Error("No editor is set, so nothing was changed. Set VISUAL or EDITOR, and try again.")
  const directory = await mkdtemp(join(tmpdir(), "strata-edit-")) // accessible to its owner only
  const copy = join(directory, name)
  try {
    await writeFile(copy, text, { mode: 0o600 })
    const code = await runEditor(editor, copy)
    if (code !== 0) throw new Error(`The editor (${editor}) ended with code ${code}. Nothing was changed.`)
    return await readFile(copy, "utf8")
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

/** Runs the command in a shell, which handles the user's quoting. */
export function runEditor(editor: string, path: string): Promise<number> {
  const [program, args] =
    process.platform === "win32" ? [`${editor} "${path}"`, []] : ["sh", ["-c", `${editor} "$1"`, "sh", path]]
  const child = spawn(program, args, { stdio: "inherit", shell: process.platform === "win32" })
  return new Promise((resolve, reject) => {
    child.once("error", reject)
    child.once("close", (code) => resolve(code ?? 1))
  })
}
