/** The context of a tool for tests: everything in memory, each part replaceable. */
import { mkdtempSync, realpathSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { onTestFinished } from "vitest"
import { systemClock } from "../src/base/clock.ts"
import type { Todo } from "../src/messages/attachments.ts"
import { textOf } from "../src/messages/blocks.ts"
import { checkToolInput } from "../src/messages/tool-input.ts"
import { executeTool } from "../src/tools/defaults.ts"
import type { FileRead, Tool, ToolContext, ToolOutput } from "../src/tools/tool.ts"

export interface TestContext extends ToolContext {
  readonly shown: string[]
}

/** `at`: the working directory. Default: a new temporary one. */
export function testContext({ at, ...parts }: Partial<ToolContext> & { readonly at?: string } = {}): TestContext {
  let directory = at ?? scratchDirectory()
  let todos: readonly Todo[] = []
  let isPlanning = false
  const files = new Map<string, FileRead>()
  const shown: string[] = []
  return {
    signal: new AbortController().signal,
    toolUseId: "toolu_1",
    clock: systemClock,
    directory: {
      get: () => directory,
      set: (path) => {
        directory = path
      },
    },
    reads: {
      get: (path) => files.get(path),
      set: (path, read) => void files.set(path, read),
      forget: (path) => void files.delete(path),
      entries: () => files.entries(),
    },
    env: process.env,
    progress: (text) => void shown.push(text),
    shown,
    todos: {
      get: () => todos,
      set: (next) => {
        todos = next
      },
    },
    plan: {
      isActive: () => isPlanning,
      enter: () => {
        isPlanning = true
      },
      leave: async () => {
        isPlanning = false
        return { approved: true }
      },
    },
    ...parts,
  }
}

/** A directory that is removed when the test ends. On disk, because tools refuse devices, and the in-memory directory is one. */
export function scratchDirectory(): string {
  const path = realpathSync(mkdtempSync(join(process.env.STRATA_TEST_DISK ?? tmpdir(), "strata-tools-")))
  onTestFinished(() => rmSync(path, { recursive: true, force: true }))
  return path
}

/** Runs a call as the agent does: validates the input first. */
export async function call<Input>(
  tool: Tool<Input>,
  input: unknown,
  context: ToolContext = testContext(),
): Promise<ToolOutput> {
  const checked = await checkToolInput(tool.inputSchema, input)
  if (checked.state === "invalid") throw new Error(checked.reason)
  return executeTool(tool, checked.input, context)
}

export const textIn = ({ content }: ToolOutput): string => textOf(content)
