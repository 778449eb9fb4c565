import { expect, test } from "vitest"
import { idsInComments, listedIds, unlistedIds } from "./requirement-ids.ts"

const listed = listedIds("| id | in one line |\n|---|---|\n| TOK-1 | Size |\n| L4-20 | Restored |\n")

test("ids come from the tables of the requirements page", () => expect([...listed]).toEqual(["TOK-1", "L4-20"]))

test("an id with a known prefix that is not listed is found; other words of that shape are not", () => {
  expect(unlistedIds("TOK-1 and TOK-99, L4-21 and L4-20, UTF-8, GPT-5", listed)).toEqual(["TOK-99", "L4-21"])
})

test("only comments are searched for ids in sources", () => {
  expect(idsInComments('/** Restores (L4-20). */\nconst a = "TOK-1"', listed)).toEqual(["L4-20"])
})
