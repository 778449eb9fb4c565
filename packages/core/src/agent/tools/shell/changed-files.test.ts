import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { expect, test } from "vitest"
import { scratchDirectory } from "../../../../test/tool-context.ts"
import { compareTrees, type ScanOptions, scanTree } from "./changed-files.ts"

function tree(files: readonly string[]) {
  const root = scratchDirectory()
  const write = (name: string, text: string) => {
    mkdirSync(dirname(join(root, name)), { recursive: true })
    writeFileSync(join(root, name), text)
  }
  for (const name of files) write(name, name)
  const changes = async (change: () => void, looking?: ScanOptions) => {
    const before = await scanTree(root, looking)
    change()
    const { files: found, more } = compareTrees(before, await scanTree(root, looking))
    return { more, found: found.map(({ path, what }) => `${what} ${path.slice(root.length + 1)}`) }
  }
  return { root, write, changes }
}

test("L4-29 files that changed, also in directories that came or went", async () => {
  const { root, write, changes } = tree(["a", "src/b", "old/c", "old/deep/d", "kept/e"])
  const { found } = await changes(() => {
    write("a", "longer")
    write("src/new", "x")
    write("made/by/generator", "x")
    rmSync(join(root, "old"), { recursive: true })
  })
  expect(found).toEqual([
    "changed a",
    "created made/by/generator",
    "deleted old/c",
    "deleted old/deep/d",
    "created src/new",
  ])
})

test("L4-29 installed packages, the records of git, links and directories of others are not looked at", async () => {
  const { root, write, changes } = tree(["node_modules/x/index.js", ".git/index", "home/journal"])
  const elsewhere = tree(["f"])
  symlinkSync(elsewhere.root, join(root, "link"))
  const without = [join(root, "home")]
  const { found } = await changes(
    () => {
      for (const name of ["node_modules/x/index.js", ".git/index", "home/journal", "link/f"]) write(name, "changed")
    },
    { without },
  )
  expect(found).toEqual([])
})

test("L4-29 a look is bounded: in a large tree only the top is compared, and nothing is claimed about the rest", async () => {
  const many = Array.from({ length: 20 }, (_, at) => `deep/${at}`)
  const { write, changes } = tree(["a", "b", ...many])
  const change = () => {
    write("a", "longer")
    write("deep/3", "longer")
  }
  expect((await changes(change, { maxFiles: 10 })).found).toEqual(["changed a"])
})

test("L4-29 of many changes the first hundred are named and the others counted", async () => {
  const { write, changes } = tree([])
  const { found, more } = await changes(() => {
    for (let at = 0; at < 130; at++) write(`dist/${at}.js`, "x")
  })
  expect([found.length, more]).toEqual([100, 30])
})
