/** Requirements of memory files: atomic changes, and separation by namespace. */
import assert from "node:assert/strict"
import { MemoryChangedError } from "@strata/core"
import { MemoryFileError } from "@strata/core/base"
import type { MemoryNamespace } from "@strata/core/store"
import { assertRefused } from "../assertions.ts"
import { DIFFICULT_TEXTS } from "../entries.ts"
import { type ContractClaim, PROJECT, upTo } from "../fixture.ts"

const NAMESPACE = { project: PROJECT }

const OUTSIDE = [
  ...["", ".", "..", "../x.md", "a/../../x.md", "/etc/passwd", "a//b.md", "a\\..\\x.md", "c:x.md", "x\0.md", "nul.md"],
  ...["x.md ", "\u202Etxt.md", `${"x".repeat(300)}.md`, "half \ud83d.md", "a/b/c/d/e/f/g/h/i.md"],
]

export const memories: readonly ContractClaim[] = [
  [
    "BEY-9 memory files change all at once, or not at all if a text is no longer the expected one",
    async (fixture) => {
      const [files, others] = [fixture.handle().memories(NAMESPACE), fixture.handle().memories(NAMESPACE)]
      assert.deepEqual([await files.list(), await files.read("a.md")], [[], undefined])
      assert.deepEqual((await files.install([]))?.skipped ?? [], [])
      await files.install([
        { path: "名前.md", text: "\uFEFFmit BOM\r\n", expected: null },
        { path: "sub/b.md", text: "b" },
        { path: ".history/x.json", text: "{}" },
      ])
      assert.equal(await others.read("名前.md"), "\uFEFFmit BOM\r\n")
      const listed = (await others.list()).map(({ path, bytes }) => [path, bytes])
      assert.deepEqual(listed, [["sub/b.md", 1], ["名前.md", 12]]) // biome-ignore format: a table
      assert.deepEqual(
        (await others.list(".history")).map(({ path }) => path),
        [".history/x.json"],
      )
      for (const expected of ["other", null, ""]) {
        const changes = [
          { path: "new.md", text: "n" },
          { path: "sub/b.md", text: "c", expected },
          { path: "名前.md", text: undefined },
        ]
        await assertRefused(() => others.install(changes), MemoryChangedError, `expected ${JSON.stringify(expected)}`)
        const texts = await Promise.all(["new.md", "sub/b.md", "名前.md"].map((path) => files.read(path)))
        assert.deepEqual(texts, [undefined, "b", "\uFEFFmit BOM\r\n"], "a refused change changed something")
      }
      await assertRefused(
        () => files.install([{ path: "gone.md", text: "x", expected: "y" }]),
        MemoryChangedError,
        "no file",
      )
      await others.install([{ path: "sub/b.md", text: undefined, expected: "b" }])
      assert.equal(await files.read("sub/b.md"), undefined)
      await others.install([{ path: "sub/b.md", text: undefined }])
      assert.deepEqual(
        (await files.list()).map(({ path }) => path),
        ["名前.md"],
      )
    },
  ],
  [
    "BEY-9 a memory's text comes back as it was; half a character and too large a text are refused",
    async (fixture) => {
      const files = fixture.handle().memories(NAMESPACE)
      for (const text of DIFFICULT_TEXTS) {
        const install = () => files.install([{ path: "a.md", text }])
        if (!text.isWellFormed()) await assertRefused(install, MemoryFileError, "half a character")
        else {
          await install()
          assert.ok((await fixture.handle().memories(NAMESPACE).read("a.md")) === text, `${text.length} characters`)
        }
      }
      const large = { path: "large.md", text: "x".repeat(5_000_000) }
      await assertRefused(() => files.install([{ path: "small.md", text: "s" }, large]), MemoryFileError, "too large")
      assert.equal(await files.read("small.md"), undefined)
    },
  ],
  [
    "BEY-9 a large change is made as a whole, and a hidden file may be larger than a memory's: it grows with their number",
    async (fixture) => {
      const files = fixture.handle().memories(NAMESPACE)
      const notes = Array.from({ length: 24 }, (_, at) => ({ path: `n${at}.md`, text: `${at} ${"x".repeat(200_000)}` }))
      const head = { path: ".history/head.json", text: "y".repeat(5_000_000) }
      await files.install([...notes, head])
      const others = fixture.handle().memories(NAMESPACE)
      assert.ok((await others.read(head.path)) === head.text)
      const read = new Map((await others.readAll({ folders: [undefined] })).map(({ path, text }) => [path, text]))
      assert.equal(read.size, notes.length)
      for (const { path, text } of notes) assert.ok(read.get(path) === text, path)
    },
  ],
  [
    "BEY-9 no path leads out of the memory files",
    async (fixture) => {
      const files = fixture.handle().memories(NAMESPACE)
      for (const path of OUTSIDE) {
        const what = JSON.stringify(path.slice(0, 40))
        await assertRefused(() => files.read(path), MemoryFileError, what)
        await assertRefused(() => files.readAll({ folders: [], paths: [path] }), MemoryFileError, what)
        await assertRefused(() => files.install([{ path, text: "x" }]), MemoryFileError, what)
        await assertRefused(
          () =>
            files.install([
              { path: "a.md", text: "x" },
              { path, text: "x" },
            ]),
          MemoryFileError,
          what,
        )
        await assertRefused(() => files.list(path), MemoryFileError, what)
      }
      assert.deepEqual(await files.list(), [])
    },
  ],
  [
    "BEY-12 many memory files are read in one call, without those that the reader has or that are too large",
    async (fixture) => {
      const files = fixture.handle().memories(NAMESPACE)
      const paths = ["a.md", "sub/b.md", ".history/c.json", ".state.json", "large.md"]
      await files.install(
        paths.map((path) => ({ path, text: path === "large.md" ? "x".repeat(1_000) : `text of ${path}` })),
      )
      const read = async (wanted: Parameters<typeof files.readAll>[0]) =>
        (await fixture.handle().memories(NAMESPACE).readAll(wanted)).toSorted((a, b) => (a.path < b.path ? -1 : 1))
      const texts = async (wanted: Parameters<typeof files.readAll>[0]) =>
        (await read(wanted)).map(({ path, text }) => `${path}: ${text?.slice(0, 20)}`)
      const visible = { folders: [undefined], maxBytes: 100 }
      assert.deepEqual(await texts(visible), [
        "a.md: text of a.md",
        "large.md: undefined",
        "sub/b.md: text of sub/b.md",
      ])
      const some = { folders: [".history", "sub", "nowhere"], paths: [".state.json", "a.md", "nowhere.md", "sub/b.md"] }
      const hidden = [".history/c.json: text of .history/c.j", ".state.json: text of .state.json"]
      assert.deepEqual(await texts(some), [...hidden, "a.md: text of a.md", "sub/b.md: text of sub/b.md"])
      const listed = await fixture.handle().memories(NAMESPACE).list()
      const knownVersions = new Map(listed.map(({ path, version }) => [path, version]))
      assert.deepEqual(
        (await texts({ ...visible, knownVersions })).map((text) => text.split(": ")[1]),
        Array(3).fill("undefined"),
      )
      await files.install([{ path: "a.md", text: "TEXT OF a.md" }])
      assert.deepEqual(await texts({ ...visible, knownVersions }), [
        "a.md: TEXT OF a.md",
        "large.md: undefined",
        "sub/b.md: undefined",
      ])
      assert.deepEqual(await read({ folders: [] }), [])
    },
  ],
  [
    "BEY-9 a version differs whenever the text does, and stays the same while nothing changes",
    async (fixture) => {
      const files = fixture.handle().memories(NAMESPACE)
      for (const path of ["a.md", ".state.json"]) {
        const seen = new Set<string>()
        const version = async () =>
          (
            await fixture
              .handle()
              .memories(NAMESPACE)
              .readAll({ folders: [], paths: [path] })
          )[0]!.version
        for (const at of upTo(20)) {
          await files.install([{ path, text: `text ${10 + at}` }])
          assert.equal(await version(), await version())
          seen.add(await version())
        }
        assert.equal(seen.size, 20, `${path}: different texts have one version`)
      }
    },
  ],
  [
    "BEY-12 namespaces are separated: of another project, agent or kind nothing is read or listed",
    async (fixture) => {
      const namespaces: readonly MemoryNamespace[] = [
        ...[{ project: PROJECT }, { project: `${PROJECT}-2` }, { project: PROJECT, collection: "dreams" } as const],
        ...[{ project: PROJECT, collection: "directories" } as const, { shared: true } as const],
        ...[{ agent: "reviewer", scope: "user" } as const, { agent: "reviewer-2", scope: "user" } as const],
        { agent: "reviewer", scope: "local", project: PROJECT },
        { agent: "reviewer", scope: "local", project: `${PROJECT}-2` },
      ]
      for (const [at, namespace] of namespaces.entries())
        await fixture
          .handle()
          .memories(namespace)
          .install([
            { path: "a.md", text: `namespace ${at}` },
            { path: `${at}.md`, text: "x" },
          ])
      for (const [at, namespace] of namespaces.entries()) {
        const files = fixture.handle().memories(namespace)
        assert.equal(await files.read("a.md"), `namespace ${at}`)
        for (const other of namespaces.keys())
          assert.equal(await files.read(`${other}.md`), other === at ? "x" : undefined)
        if ("shared" in namespace) continue // a store with files keeps the other namespaces below this one
        assert.deepEqual(
          (await files.list()).map(({ path }) => path),
          [`${at}.md`, "a.md"],
        )
      }
    },
  ],
]
