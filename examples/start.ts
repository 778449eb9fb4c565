/**
 * `npm start`: a first look, without a key and without the network. A simulated model works through this repository with read-only tools
 * and the real SDK, while the library keeps the conversation; then the conversation is opened again from its journal.
 */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import Anthropic from "@anthropic-ai/sdk"
import { type Conversation, openConversation, percentages, serialiseRequest, summarise } from "@strata/core"
import { startSimulator, workerBrain } from "@strata/sim"
import { ask } from "./own-loop.ts"
import { readOnlyRunner, readOnlyTools } from "./read-only-tools.ts"

const MODEL = "claude-opus-5-5"
const root = join(import.meta.dirname, "..")
const dir = mkdtempSync(join(tmpdir(), "strata-start-"))
const simulator = await startSimulator({ brain: workerBrain({ seed: 7, turns: 14 }) })

try {
  console.log(`A simulated ${MODEL} answers at ${simulator.url}; the conversation is kept in ${dir}.\n`)
  const client = new Anthropic({ apiKey: "none-needed", baseURL: simulator.url })
  const system = `You look through a repository and say what it is. Working directory: ${root}`
  const agent = { client, model: MODEL, system, tools: readOnlyTools, run: readOnlyRunner(root) }

  const chat = await ask(agent, "What is in this repository? Never guess: look.", { dir, watch: showTurns })
  await chat.add({ role: "user", content: "Thank you. And which part would you test first?" })
  const next = serialiseRequest(await chat.prepare())
  showSummary(chat)
  await chat.close()

  const again = await openConversation({ dir, id: chat.id, mustExist: true, model: MODEL })
  const same = serialiseRequest(await again.prepare()) === next
  console.log(
    `\nOpened again from its journal: the next request is ${same ? "the same, byte for byte" : "NOT the same"}.`,
  )
  await again.close()
  console.log(
    "\nNext: examples/own-loop.ts is the whole loop in thirty lines; `npm run sim -- --help` starts the simulator by itself.",
  )
  process.exitCode = same ? 0 : 1
} finally {
  await simulator.close()
  rmSync(dir, { recursive: true })
}

function showTurns(chat: Conversation): void {
  let turn = 0
  chat.on("entry", ({ entry }) => {
    if (entry.type !== "assistant" || typeof entry.message.content === "string") return
    const calls = entry.message.content.filter((block) => block.type === "tool_use")
    const said = calls.map(({ name, input }) => `${name}(${Object.values(input as object)[0]})`).join("  ") || "answers"
    const used = chat.views.context.size().tokens.toLocaleString("en-US")
    console.log(
      `${String(++turn).padStart(3)}  ${used.padStart(8)} tokens  ${said.replaceAll(`${root}/`, "").slice(0, 90)}`,
    )
  })
}

function showSummary(chat: Conversation): void {
  const accounting = chat.accounting()
  const shares = Object.entries(percentages(accounting)).filter(([, percent]) => percent > 0)
  console.log(`\nThe context holds about ${accounting.total.toLocaleString("en-US")} tokens of messages:`)
  for (const [name, percent] of shares.toSorted(([, a], [, b]) => b - a)) {
    console.log(`  ${name.padEnd(22)}${"#".repeat(Math.ceil(percent / 2)).padEnd(52)}${percent}%`)
  }
  const { requests, hitRatio, dollars } = summarise(chat.views.ledger)
  console.log(
    `${requests} requests, ${Math.round(100 * hitRatio)}% of the input read from the cache, $${dollars.toFixed(4)}.`,
  )
  console.log(
    `Rules in the user's own words: ${JSON.stringify(chat.views.words.messages.flatMap(({ rules }) => rules))}`,
  )
  console.log(`Files read: ${[...chat.views.artifacts.files.keys()].length}; context left: ${chat.fill().percentLeft}%`)
}
