/**
 * Measures a conversation of a million tokens in a real browser: the first paint of each view, the longest frame while it is scrolled from
 * end to end, the memory of the tab, and how long a new message takes from the journal to the page.
 *
 *     npm run bench -- pages
 */
import { mkdirSync } from "node:fs"
import { join } from "node:path"
import { openConversation } from "@strata/core"
import type { Page } from "playwright-core"
import { BROWSER, launch } from "../../../packages/page/test/browser.ts"
import { makeConversation } from "../../../packages/page/test/made-conversation.ts"
import { openTab, sourceOf, startTrial } from "../../../packages/page/test/trial-pages.ts"
import { inTemporaryDirectory, isShort, milliseconds } from "../measure.ts"

const ROUNDS = isShort ? 60 : 700
const RESULT_CHARACTERS = 6_000 // about 1,500 tokens: a million in all
const MESSAGES = isShort ? 3 : 10

/** Time from the request to the first paint, as the browser reports it. */
const FIRST_PAINT = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0"
/** Scrolls from the end to the beginning and collects the time of each frame. */
const SCROLL = `(async () => {
  const box = document.querySelector("[data-rows]")
  const frames = []
  let last = performance.now()
  box.scrollTop = box.scrollHeight
  while (box.scrollTop > 0 && frames.length < 3000) {
    box.scrollTop -= 400
    await new Promise(requestAnimationFrame)
    const now = performance.now()
    frames.push(now - last)
    last = now
  }
  return frames
})()`

async function memoryOf(tab: Page): Promise<number> {
  const session = await tab.context().newCDPSession(tab)
  await session.send("HeapProfiler.collectGarbage")
  const { usedSize } = await session.send("Runtime.getHeapUsage")
  return usedSize
}

if (BROWSER !== undefined)
  await inTemporaryDirectory(async (dir) => {
    const cwd = join(dir, "project")
    mkdirSync(cwd)
    const { id, at: location } = await makeConversation({
      dir,
      cwd,
      rounds: ROUNDS,
      resultCharacters: RESULT_CHARACTERS,
    })
    const trial = await startTrial(sourceOf({ long: { title: "Long", location } }))
    const browser = await launch()
    const { tab } = await openTab(browser, trial, { viewport: { width: 1_440, height: 900 } })
    for (const view of ["context", "context", "messages", "compactions", "cache", "money"]) {
      await tab.goto(`${trial.base}/c/long/${view}`)
      await tab.waitForFunction(() => performance.getEntriesByName("first-contentful-paint").length > 0)
      console.log(`${view.padEnd(12)} first paint after ${milliseconds(Number(await tab.evaluate(FIRST_PAINT)))}`)
    }
    await tab.goto(`${trial.base}/c/long/messages`)
    await tab.waitForSelector("article")
    const frames = ((await tab.evaluate(SCROLL)) as number[]).toSorted((a, b) => a - b)
    const [median, longest] = [frames[Math.floor(frames.length / 2)]!, frames.at(-1)!]
    console.log(
      `scrolling    ${frames.length} frames, median ${milliseconds(median)}, longest ${milliseconds(longest)}`,
    )
    console.log(
      `memory       ${((await memoryOf(tab)) / 1e6).toFixed(0)} MB of the tab's heap, ${await tab.locator("article").count()} rows in the page`,
    )
    const delays: number[] = []
    await using chat = await openConversation({ model: "claude-opus-5-5", dir, cwd, env: {}, id })
    await tab.waitForSelector(".live.on")
    for (let at = 1; at <= MESSAGES; at++) {
      const count = await tab.locator("[data-count]").innerText()
      const start = performance.now()
      await chat.add(`New message ${at}`)
      await tab.waitForFunction((before) => document.querySelector("[data-count]")?.textContent !== before, count)
      delays.push(performance.now() - start)
      await chat.record({ content: `Answer ${at}` })
      await tab.waitForTimeout(300)
    }
    console.log(
      `live         a new message is on the page after ${milliseconds(Math.max(...delays))} at most, of ${MESSAGES}`,
    )
    await browser.close()
    await trial.page.close()
  })
