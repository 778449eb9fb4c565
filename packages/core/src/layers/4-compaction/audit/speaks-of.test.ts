import { expect, test } from "vitest"
import { conversation } from "../../../../test/builders.ts"
import { sourceOf } from "./source.ts"
import { speaksOf } from "./speaks-of.ts"

const source = sourceOf({
  messages: conversation().user("Please change src/module-3.ts so that it listens on port 4003.").messages,
})

test.each([
  ["Modules were changed to listen.", true],
  ["Ports are listened on.", true],
  ["Bread was baked for the guests.", false],
])("BEY-2 a summary may inflect the words of the conversation: %s %s", (summary, speaks) => {
  expect(speaksOf(summary, source)).toBe(speaks)
})
