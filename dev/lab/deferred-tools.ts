/**
 * Compares the cost of loading 200 tools when needed with declaring all of them, in one run against the simulator. Its worker gets tasks,
 * one of which needs one of the 200 tools. Three modes: all declared, loaded by reference, called by name.
 */
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { codingTools, openAgent, type Tool } from "@strata/core"
import { internalsOf } from "@strata/core/conversation"
import { startSimulator, workerResponder } from "@strata/sim"
import { anthropicModel } from "../../packages/core/src/model/anthropic/anthropic.ts"

export interface DeferredToolsResult {
  readonly way: "all declared" | "by reference" | "by name"
  readonly requests: number
  /** Input tokens of the first request. */
  readonly firstInput: number
  /** Input tokens of all requests: uncached, written and read. */
  readonly input: number
  readonly dollars: number
  /** Whether the worker found and used the tool that the task needs. */
  readonly used: boolean
  /** Number of cache breaks that no decision explains. */
  readonly breaks: number
}

export interface MeasuringOptions {
  readonly directory: string
  readonly model: string
  /** Percent of the window that tool definitions may take. Default: the setting's default. */
  readonly share?: number
  readonly tasks: number
  /** Approximate number of requests of one task. */
  readonly turns: number
}

const SERVERS = ["github", "jira", "slack", "calendar", "billing", "warehouse", "crm", "monitoring", "wiki", "payroll"]
const VERBS = ["create", "update", "delete", "list", "search", "assign", "archive", "export", "comment", "watch"]
const NOUNS = ["record", "report"]
const WANTED = "mcp__billing__refund_customer"

/** 200 tools of ten servers, each with a description and a schema of typical size. */
export function manyTools(onUse: (name: string) => void): readonly Tool[] {
  const named = SERVERS.flatMap((server) =>
    VERBS.flatMap((verb) => NOUNS.map((noun) => [server, `${verb}_${noun}`] as const)),
  )
  const names = [...named.slice(0, -1), ["billing", "refund_customer"] as const]
  return names.map(([server, action]): Tool => {
    const name = `mcp__${server}__${action}`
    const words = action.replaceAll("_", " ")
    return {
      name,
      description:
        action === "refund_customer"
          ? "Gives a customer their money back for an invoice that was paid. Needs the number of the invoice. Partial amounts are possible."
          : `Lets you ${words} in ${server}. Returns the ${words} result with its id, its state and a link. Fails if the caller has no access to the workspace. Results are paged; pass the cursor of the last page to go on.`,
      inputSchema: schemaOf(server),
      execute: () => {
        onUse(name)
        return `Done: ${words} in ${server}.`
      },
    }
  })
}

function schemaOf(server: string) {
  const text = (description: string) => ({ type: "string", description })
  return {
    type: "object",
    properties: {
      id: text(`The id in ${server}, as shown in links and lists.`),
      workspace: text("The workspace. Default: the one of the caller."),
      fields: { type: "array", items: text("A field."), description: "The fields to return. Default: all of them." },
      filter: {
        type: "object",
        description: "Only what fits all of these.",
        properties: {
          state: {
            type: "string",
            enum: ["open", "closed", "waiting", "archived"],
            description: "The state it is in.",
          },
          owner: text("The person who owns it, by name or address."),
          since: text("Changed at this time or later, as an ISO 8601 date."),
        },
      },
      cursor: text("Where to go on, from the last result."),
      limit: { type: "integer", minimum: 1, maximum: 100, description: "The most results. Default 20." },
    },
    required: ["id"],
  }
}

export async function measureAll(options: MeasuringOptions): Promise<readonly DeferredToolsResult[]> {
  const measured: DeferredToolsResult[] = []
  for (const way of ["all declared", "by reference", "by name"] as const) measured.push(await measure(way, options))
  return measured
}

async function measure(way: DeferredToolsResult["way"], options: MeasuringOptions): Promise<DeferredToolsResult> {
  const { directory, model, share, tasks, turns } = options
  const cwd = join(directory, way.replaceAll(" ", "-"), "project")
  mkdirSync(cwd, { recursive: true })
  for (let i = 0; i < 6; i++)
    writeFileSync(join(cwd, `notes-${i}.md`), `# Notes ${i}\n\n${"A line of notes.\n".repeat(60)}`)
  const simulator = await startSimulator({
    responder: workerResponder({ seed: 3, turns, resultSize: 2_000, trouble: 0 }),
  })
  const used: string[] = []
  try {
    await using agent = await openAgent({
      model: anthropicModel({ model, apiKey: "sk-sim", baseURL: simulator.url }),
      tools: [...codingTools(), ...manyTools((name) => used.push(name))],
      cwd,
      dir: join(cwd, "..", "home"),
      env: { PATH: process.env.PATH },
      mode: "bypass",
      settings: {
        memory: "off",
        switches: { notes: false, "deferred-tools": way !== "all declared" },
        ...(share === undefined ? {} : { figures: { "deferred-tools-share": share } }),
        ...(way === "by name" ? { models: { [model]: { accepts: { toolReferences: false } } } } : {}),
      },
    })
    for (let task = 0; task < tasks; task++) await agent.ask(taskOf(task))
    const { requests, tokens, dollars } = agent.conversation.ledger()
    const [first] = internalsOf(agent.conversation)
      .views.context.storedMessages()
      .flatMap((message) => (message.type === "assistant" ? (message.message.usage ?? []) : []))
    return {
      way,
      requests,
      firstInput: first ? inputOf(first) : 0,
      input: tokens.input + tokens.cacheWrite + tokens.cacheRead,
      dollars,
      used: used.includes(WANTED),
      breaks: agent.conversation.cacheHistory().breaks.length,
    }
  } finally {
    await simulator.close()
  }
}

const taskOf = (task: number): string =>
  task === 1
    ? "Use a tool to give the customer their money back for the invoice that was paid."
    : `Look at the notes and say what is in them, round ${task + 1}.`

interface Usage {
  readonly input_tokens: number
  readonly cache_creation_input_tokens?: number | null
  readonly cache_read_input_tokens?: number | null
}

const inputOf = (usage: Usage): number =>
  usage.input_tokens + (usage.cache_creation_input_tokens ?? 0) + (usage.cache_read_input_tokens ?? 0)
