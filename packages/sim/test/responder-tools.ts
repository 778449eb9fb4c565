/**
 * Fixtures for tests of responders: a small project on disk, seven real tools in a few lines each, and a conversation in which a responder
 * works with them until it ends its turn.
 */

import { execFileSync } from "node:child_process"
import { globSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { findProblems, type Schema } from "../../core/src/model/offline/tool-schema.ts"
import { seededRandom } from "../src/identity.ts"
import type { Answer, Responder, ResponderBlock, ResponderMessage, ResponderRequest } from "../src/responder.ts"

type Input = Record<string, string>

interface TestTool {
  readonly name: string
  readonly input_schema: Schema
  /** Returns the text of the result. An error it throws becomes a failed result. */
  readonly run: (input: Input, root: string) => string
}

const text = { type: "string", minLength: 1 }

export const TEST_TOOLS: readonly TestTool[] = [
  {
    name: "Read",
    input_schema: object(
      { file_path: text, offset: { type: "integer", minimum: 1 }, limit: { type: "integer", minimum: 1 } },
      ["file_path"],
    ),
    run({ file_path, offset = 1, limit = 2000 }) {
      const first = Number(offset)
      const lines = readFileSync(file_path!, "utf8").split("\n")
      const shown = lines.slice(first - 1, first - 1 + Number(limit))
      return shown.map((line, index) => `${String(first + index).padStart(6)}→${line}`).join("\n") || "(no such lines)"
    },
  },
  {
    name: "Write",
    input_schema: object({ file_path: text, content: { type: "string" } }, ["file_path", "content"]),
    run({ file_path, content }) {
      mkdirSync(dirname(file_path!), { recursive: true })
      writeFileSync(file_path!, content!)
      return `Wrote ${file_path}.`
    },
  },
  {
    name: "Edit",
    input_schema: object({ file_path: text, old_string: text, new_string: { type: "string" } }, [
      "file_path",
      "old_string",
      "new_string",
    ]),
    run({ file_path, old_string, new_string }) {
      const before = readFileSync(file_path!, "utf8")
      const count = before.split(old_string!).length - 1
      if (count === 0) throw new Error("old_string not found in the file")
      if (count > 1) throw new Error(`old_string is not unique: ${count} occurrences`)
      writeFileSync(
        file_path!,
        before.replace(old_string!, () => new_string!),
      )
      return `Edited ${file_path}.`
    },
  },
  {
    name: "Bash",
    input_schema: object({ command: text, description: text }, ["command", "description"]),
    run: ({ command }, root) => run("bash", ["-c", command!], root),
  },
  {
    name: "Grep",
    input_schema: object(
      {
        pattern: text,
        glob: text,
        output_mode: { enum: ["content", "files_with_matches"] },
        head_limit: { type: "integer" },
      },
      ["pattern"],
    ),
    run({ pattern, glob = "*", output_mode, head_limit = 100 }, root) {
      const flag = output_mode === "files_with_matches" ? "-l" : "-n"
      const script = 'grep -r "$1" --include="$2" -e "$3" . | LC_ALL=C sort | head -n "$4"'
      return run("bash", ["-c", script, "grep", flag, glob, pattern!, `${head_limit}`], root) || "No matches."
    },
  },
  {
    name: "Glob",
    input_schema: object({ pattern: text }, ["pattern"]),
    run: ({ pattern }, root) => globSync(pattern!, { cwd: root }).sort().join("\n") || "No files.",
  },
  {
    name: "TodoWrite",
    input_schema: object(
      {
        todos: {
          type: "array",
          items: object(
            { content: text, status: { enum: ["pending", "in_progress", "completed"] }, activeForm: text },
            ["content", "status", "activeForm"],
          ),
        },
      },
      ["todos"],
    ),
    run: () => "The todo list is up to date.",
  },
]

function object(properties: Record<string, unknown>, required: readonly string[]): Schema {
  return { type: "object", properties, required, additionalProperties: false }
}

function run(program: string, args: readonly string[], cwd: string): string {
  // Keeps git from finding a repository around the temporary directory.
  const env = { ...process.env, GIT_CEILING_DIRECTORIES: dirname(cwd) }
  return execFileSync(program, args, { cwd, env, encoding: "utf8", stdio: "pipe", timeout: 30_000 })
}

/** A project of a dozen small files, removed after the test. */
export function makeProject(): Disposable & { readonly root: string } {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "responders-")))
  const write = (path: string, lines: readonly string[]) => {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), `${lines.join("\n")}\n`)
  }
  for (const [index, name] of ["parser", "lexer", "printer", "config", "server", "client"].entries()) {
    const functions = Array.from({ length: 12 }, (_, count) => [
      `export function ${name}Step${count}(input: string): number {`,
      `  const ${name}Size${count} = input.length * ${index + count}`,
      `  return ${name}Size${count} + ${count * 7}`,
      "}",
      "",
    ])
    write(`src/${name}.ts`, functions.flat())
    write(`docs/${name}.md`, [`# ${name}`, "", `How the ${name} works, step by step.`, "", `See src/${name}.ts.`])
  }
  write("package.json", ["{", '  "name": "sample"', "}"])
  return { root, [Symbol.dispose]: () => rmSync(root, { recursive: true, force: true }) }
}

export interface TestConversation {
  readonly messages: ResponderMessage[]
  readonly answers: Answer[]
  /** Every mismatch between an input and its schema. */
  readonly problems: string[]
  /** Sends a message and lets the responder work until it ends its turn, or for a number of answers. */
  say(words: string, maxAnswers?: number): Promise<void>
  /** Lets the responder continue without a message. */
  goOn(maxAnswers: number): Promise<void>
}

export function converse(given: {
  responder: Responder
  root: string
  tools?: readonly TestTool[]
  messages?: readonly ResponderMessage[]
}): TestConversation {
  const { responder, root, tools = TEST_TOOLS } = given
  const messages = [...(given.messages ?? [])]
  const answers: Answer[] = []
  const problems: string[] = []
  let count = messages.length

  async function goOn(maxAnswers: number): Promise<void> {
    for (let round = 0; round < maxAnswers; round++) {
      const request: ResponderRequest = { ...requestOf(messages), tools, system: `Working directory: ${root}` }
      const answer = await responder.answer(makeTurn(request, count++))
      answers.push(answer)
      messages.push({ role: "assistant", content: answer.content as readonly ResponderBlock[] })
      const results = answer.content.flatMap((block) =>
        block.type === "tool_use" ? [runCall(block, { root, tools, problems })] : [],
      )
      if (results.length === 0) return
      messages.push({ role: "user", content: results })
    }
  }

  return {
    messages,
    answers,
    problems,
    goOn,
    async say(words, maxAnswers = 200) {
      addUserText(messages, words)
      await goOn(maxAnswers)
    },
  }
}

export function requestOf(messages: readonly ResponderMessage[]): ResponderRequest {
  return { model: "claude-sonnet-5", max_tokens: 20_000, messages }
}

export function makeTurn(request: ResponderRequest, index = 0) {
  let ids = 0
  return {
    request,
    index,
    random: seededRandom(index + 1),
    nextToolUseId: () => `toolu_${index}_${ids++}`,
  }
}

/** Merges two consecutive user messages, as the simulator does. */
function addUserText(messages: ResponderMessage[], words: string): void {
  const last = messages.at(-1)
  const block = { type: "text", text: words }
  if (last?.role === "user") messages[messages.length - 1] = { role: "user", content: [...last.content, block] }
  else messages.push({ role: "user", content: [block] })
}

function runCall(
  block: { readonly id?: string; readonly name: string; readonly input?: unknown },
  { root, tools, problems }: { root: string; tools: readonly TestTool[]; problems: string[] },
): ResponderBlock {
  const result = { type: "tool_result", tool_use_id: block.id ?? "" }
  const tool = tools.find(({ name }) => name === block.name)
  if (tool === undefined) {
    problems.push(`${block.name}: is not offered`)
    return { ...result, content: "No such tool.", is_error: true }
  }
  problems.push(...findProblems(tool.input_schema, block.input).map((problem) => `${block.name}${problem}`))
  try {
    return { ...result, content: tool.run(block.input as Input, root) }
  } catch (error) {
    const { message, stderr } = error as Error & { stderr?: string }
    return { ...result, content: stderr || message, is_error: true }
  }
}
