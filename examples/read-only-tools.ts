/** Three tools that read a directory and change nothing. They refuse paths outside it. */
import { globSync, readFileSync, realpathSync } from "node:fs"
import { join, relative, sep } from "node:path"
import type Anthropic from "@anthropic-ai/sdk"

type Tool = Anthropic.Messages.Tool

const object = (properties: Record<string, unknown>, required: string[]): Tool["input_schema"] => ({
  type: "object",
  properties,
  required,
})

export const readOnlyTools: Tool[] = [
  {
    name: "Read",
    description: "Reads a text file. Lines are numbered.",
    input_schema: object({ file_path: { type: "string" }, offset: { type: "integer" }, limit: { type: "integer" } }, [
      "file_path",
    ]),
  },
  {
    name: "Glob",
    description: "Lists files that match a pattern.",
    input_schema: object({ pattern: { type: "string" } }, ["pattern"]),
  },
  {
    name: "Grep",
    description: "Finds lines that match a regular expression.",
    input_schema: object({ pattern: { type: "string" }, path: { type: "string" } }, ["pattern"]),
  },
]

const MAX_LINES = 400
const MAX_HITS = 50

export function readOnlyRunner(root: string): (name: string, input: unknown) => Promise<string> {
  const inside = (path: string): string => {
    const real = realpathSync(path.startsWith(sep) ? path : join(root, path))
    if (real !== root && !real.startsWith(root + sep)) throw new Error(`${path} is outside ${root}`)
    return real
  }
  const files = (pattern: string) =>
    globSync(pattern, { cwd: root, exclude: (name) => name === "node_modules" || name === ".git" }).toSorted()

  return async (name, input) => {
    const {
      file_path = "",
      offset = 1,
      limit = MAX_LINES,
      pattern = "",
      path = ".",
    } = input as {
      file_path?: string
      offset?: number
      limit?: number
      pattern?: string
      path?: string
    }
    switch (name) {
      case "Read": {
        const lines = readFileSync(inside(file_path), "utf8")
          .split("\n")
          .slice(offset - 1, offset - 1 + limit)
        return lines.map((line, i) => `${String(offset + i).padStart(6)}\t${line}`).join("\n")
      }
      case "Glob":
        return files(pattern).slice(0, MAX_HITS).join("\n") || "No file matches."
      case "Grep": {
        const expression = new RegExp(pattern)
        const below = relative(root, inside(path))
        const hits = files(join(below, "**/*.{ts,md,json}")).flatMap((file) =>
          readFileSync(join(root, file), "utf8")
            .split("\n")
            .flatMap((line, at) => (expression.test(line) ? [`${file}:${at + 1}: ${line.trim()}`] : [])),
        )
        return hits.slice(0, MAX_HITS).join("\n") || "No line matches."
      }
      default:
        throw new Error(`There is no tool named ${name}.`)
    }
  }
}
