import { mkdir, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { expect, onTestFinished, test } from "vitest"
import { temporaryRoot } from "../../test/journal-files.ts"
import { checkCodeReferences, findNamedCode } from "./code-references.ts"

async function project() {
  const { root, remove } = await temporaryRoot()
  onTestFinished(remove)
  await mkdir(join(root, "src"))
  await writeFile(join(root, "src/login.ts"), 'export function checkLogin() { option("--dry-run") }\n')
  await mkdir(join(root, ".git"))
  await writeFile(join(root, ".git/old"), "removedFunction")
  return root
}

test("BEY-9 the files, options and functions that a memory names are checked against the code", async () => {
  const directory = await project()
  const body = [
    "`checkLogin()` in src/login.ts:12 is called by `removedFunction()`; see `src/gone.ts` and `README.md`.",
    "Run it with `--dry-run`, never with `--fast-mode`. Ask `Auth.checkLogin`. Read `../outside.ts`.",
  ].join("\n")
  expect(await checkCodeReferences({ description: "", body }, { directory })).toEqual([
    { text: "checkLogin()", kind: "name", state: "current" },
    { text: "removedFunction()", kind: "name", state: "gone" },
    { text: "src/gone.ts", kind: "file", state: "gone" },
    { text: "README.md", kind: "file", state: "unknown" },
    { text: "--dry-run", kind: "option", state: "current" },
    { text: "--fast-mode", kind: "option", state: "gone" },
    { text: "Auth.checkLogin", kind: "name", state: "current" },
    { text: "../outside.ts", kind: "file", state: "unknown" },
    { text: "src/login.ts", kind: "file", state: "current" },
  ])
})

test("BEY-9 a search without enough time leaves its claims unknown", async () => {
  const directory = await project()
  const signal = AbortSignal.abort()
  expect(
    await checkCodeReferences({ description: "", body: "`removedFunction()`" }, { directory, signal }),
  ).toMatchObject([{ state: "unknown" }])
})

test("BEY-9 ordinary words, addresses and code blocks are no claims", () => {
  const text =
    "Ana prefers `tabs` and/or spaces. See https://example.com/a/b.html.\n```\nfooBar() src/x.ts\n```\n`npm test`, 24/7."
  expect(findNamedCode(text)).toEqual([])
  expect(findNamedCode("See packages/core/src/a.ts, `useThing`.").map(({ text }) => text)).toEqual([
    "useThing",
    "packages/core/src/a.ts",
  ])
})
