/** The price before a message, on a real conversation with a manual clock. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { type Conversation, openConversation } from "@strata/core"
import { internalsOf } from "@strata/core/conversation"
import { expect, onTestFinished, test } from "vitest"
import type { DialogAnswer, DialogDraft } from "./dialog.ts"
import { PriceQuestion } from "./price-question.ts"

const HOUR = 3_600_000

/** A conversation that was just answered, with a number of tokens in its context. */
async function answered(tokens: number) {
  const dir = mkdtempSync(join(tmpdir(), "strata-price-"))
  let now = Date.parse("2026-11-15T12:00:00Z")
  const clock = { now: () => new Date(now) }
  const chat = await openConversation({ model: "claude-opus-5-5", dir, env: {}, cwd: dir, clock, system: "You help." })
  onTestFinished(async () => {
    await chat.close()
    rmSync(dir, { recursive: true })
  })
  const turn = async (text: string, usage: object) => {
    await chat.add(text)
    await chat.prepare()
    await chat.record({ content: "I see.", usage: { input_tokens: 3, output_tokens: 9, ...usage } })
  }
  await turn(`A log: ${"all is well. ".repeat(tokens / 50)}`, { cache_creation_input_tokens: tokens })
  await turn("And?", { cache_read_input_tokens: tokens })
  const wait = (ms: number) => {
    now += ms
  }
  return { chat, turn, wait }
}

function question(chat: Conversation, answer: DialogAnswer = { type: "chosen", index: 0 }) {
  const [shown, asked, compactions]: [string[], DialogDraft[], number[]] = [[], [], []]
  const price = new PriceQuestion({
    chat: () => chat,
    say: (text) => shown.push(text),
    ask: async (dialog) => {
      asked.push(dialog)
      return answer
    },
    compact: async () => {
      compactions.push(internalsOf(chat).views.compactions.count)
      await chat.compact({ routes: ["offline"] })
    },
  })
  return { price, shown, asked, compactions }
}

const PRICE =
  /^The next message costs about \$\d\.\d\d, and later ones \$0\.\d\d: 200K tokens are not cached any more\./

test("BEY-20 after a pause the price is asked about once, before the message", async () => {
  const { chat, turn, wait } = await answered(200_000)
  const { price, asked } = question(chat)
  expect([await price.ask(), asked.length]).toEqual([true, 0]) // the cache is warm
  wait(2 * HOUR)
  expect([await price.ask(), await price.ask(), asked.length]).toEqual([true, true, 1])
  expect(asked[0]!.title).toMatch(PRICE)
  expect(asked[0]!.options.map(({ label }) => label)).toEqual(["Send it", "Compact first, then send it"])
  await turn("Go on.", { cache_creation_input_tokens: 200_000 })
  wait(2 * HOUR)
  await price.ask()
  expect(asked).toHaveLength(2)
})

test("BEY-20 on a resume the price is shown, and the message is then sent without a question", async () => {
  const { chat, wait } = await answered(200_000)
  wait(2 * HOUR)
  const { price, shown, asked } = question(chat)
  await price.say()
  expect(shown).toEqual([expect.stringMatching(PRICE)])
  expect(shown[0]).toMatch(/ \/compact first: about \$\d\.\d\d, then \$0\.\d\d for the next message\.$/)
  expect([await price.ask(), asked.length]).toEqual([true, 0])
})

test("BEY-20 who compacts first sends less, and who leaves sends nothing", async () => {
  const { chat, wait } = await answered(200_000)
  wait(2 * HOUR)
  expect(await question(chat, { type: "dismissed" }).price.ask()).toBe(false)
  const { price, compactions } = question(chat, { type: "chosen", index: 1 })
  expect([await price.ask(), compactions.length]).toEqual([true, 1])
  expect(chat.windowUsage().used).toBeLessThan(50_000)
})

test("BEY-20 nothing is shown about little money", async () => {
  const { chat, wait } = await answered(15_000)
  wait(2 * HOUR)
  const { price, shown, asked } = question(chat)
  await price.say()
  expect([await price.ask(), shown.length, asked.length]).toEqual([true, 0, 0])
})
