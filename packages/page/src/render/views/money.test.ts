/** What the page about money says where the transcript records only a part. */
import { systemClock } from "@strata/core/base"
import { afterEach, beforeEach, expect, test } from "vitest"
import { RecordedHome } from "../../../test/recorded-home.ts"
import { openUsage } from "../../index.ts"
import { LiveConversation } from "../../live/live-conversation.ts"
import { fileSource } from "../../live/live-source.ts"
import { moneyView } from "./money.ts"
import { formatRowCost } from "./usage-format.ts"

let home: RecordedHome

beforeEach(() => {
  home = new RecordedHome()
})

afterEach(() => home.remove())

/** The cost on the conversation's page and in the list, and the remarks of the page. */
async function costs(file: string) {
  const live = await LiveConversation.open(fileSource({ file }, systemClock))
  const page = moneyView(live).toString()
  live.close()
  const look = openUsage({ env: {}, home: home.path })
  await look.update()
  const [row] = look.list().rows
  await look.close()
  return {
    page: /<dt>spent<\/dt><dd><strong>(.*?)<\/strong>/.exec(page)?.[1],
    list: formatRowCost(row!),
    remarks: [...page.matchAll(/<p class="soft">(.*?)<\/p>/g)].map(([, remark]) => remark),
  }
}

test("BEY-10 a cost that is only a part has the same mark in the list and on the conversation's page, with the reason", async () => {
  const { page, list, remarks } = await costs(
    home.session({ id: "short", answers: "many words were written ".repeat(900) }),
  )
  expect(page).toMatch(/^\$[\d.]+\+$/)
  expect(page).toBe(list)
  expect(remarks).toEqual([expect.stringMatching(/^The output tokens of 1 response were not recorded in full: /)])
})

test("BEY-10 a cost without a price is unknown in both places", async () => {
  const { page, list, remarks } = await costs(home.session({ id: "free", model: "a-model-without-a-price" }))
  expect([page, list]).toEqual(["unknown", "unknown"])
  expect(remarks).toEqual(["No price is known for a-model-without-a-price."])
})
