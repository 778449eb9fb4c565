/**
 * File tools for an extraction. Writes of the fork are captured: it sees its own changes, and the directory stays unchanged until the
 * complete proposal is installed.
 */
import { readFile } from "node:fs/promises"
import { isTopicFile, memoryFileName } from "../../../memory/file-names.ts"
import { executeTool } from "../../../tools/defaults.ts"
import { isMissing } from "../../../tools/files/file-error.ts"
import { resolveTarget } from "../../../tools/files/paths.ts"
import { replaceText } from "../../../tools/files/text-replacement.ts"
import type { Tool, ToolContext } from "../../../tools/tool.ts"

interface CapturedFiles {
  readonly tools: readonly Tool[]
  /** Complete texts by file name in the directory. */
  readonly texts: ReadonlyMap<string, string>
  /** Original texts of those files; `null` if a file did not exist. */
  readonly base: ReadonlyMap<string, string | null>
}

export function captureFiles(given: readonly Tool[], directory: string): CapturedFiles {
  const texts = new Map<string, string>()
  const base = new Map<string, string | null>()

  async function nameOf(file: string, context: ToolContext): Promise<{ name: string | undefined; path: string }> {
    const { path } = await resolveTarget(file, context)
    return { name: memoryFileName(path, directory), path }
  }

  /** The text that the fork sees in a file now. */
  async function current(name: string, path: string): Promise<string | null> {
    if (!base.has(name)) base.set(name, await textIfPresent(path))
    return texts.get(name) ?? base.get(name)!
  }

  async function put(name: string, text: string): Promise<string> {
    if (!isTopicFile(name)) return `${name} is not changed here: memories are .md files, and the index follows them.`
    texts.set(name, text)
    return `${name} is noted.`
  }

  const captured: Readonly<Record<string, (input: FileInput, context: ToolContext) => Promise<unknown>>> = {
    async Write({ file_path, content = "" }, context) {
      const { name, path } = await nameOf(file_path, context)
      await current(name!, path)
      return put(name!, content)
    },
    async Edit({ file_path, old_string = "", new_string = "", replace_all = false }, context) {
      const { name, path } = await nameOf(file_path, context)
      const before = await current(name!, path)
      if (before === null || before === "") {
        if (old_string !== "") throw new Error(`${name} does not exist. Nothing was changed.`)
        return put(name!, new_string)
      }
      if (old_string === "") throw new Error(`${name} exists. Give the text to replace.`)
      const replaced = replaceText(before, { old: old_string, replacement: new_string, all: replace_all })
      if (replaced.state === "replaced") return put(name!, replaced.text)
      throw new Error(`old_string was found ${replaced.state === "missing" ? "nowhere" : "more than once"} in ${name}.`)
    },
  }

  const tools = given.map((tool): Tool => {
    const capture = captured[tool.name]
    if (capture) return { ...tool, execute: (input, context) => capture(input as FileInput, context) }
    if (tool.name !== "Read") return tool
    return {
      ...tool,
      async execute(input, context) {
        const { name } = await nameOf((input as FileInput).file_path, context)
        const own = name === undefined ? undefined : texts.get(name)
        return own ?? executeTool(tool, input, context)
      },
    }
  })
  return { tools, texts, base }
}

interface FileInput {
  readonly file_path: string
  readonly content?: string
  readonly old_string?: string
  readonly new_string?: string
  readonly replace_all?: boolean
}

async function textIfPresent(path: string): Promise<string | null> {
  try {
    return await readFile(path, "utf8")
  } catch (error) {
    if (isMissing(error)) return null
    throw error
  }
}
