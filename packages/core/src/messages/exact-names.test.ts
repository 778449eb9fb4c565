import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { isWhole, size } from "../../test/size.ts"
import { exactNamesIn } from "./exact-names.ts"

const names = (text: string) => exactNamesIn(text).map(({ name }) => name)
const kinds = (text: string) => Object.fromEntries(exactNamesIn(text).map(({ name, kind }) => [name, kind]))

describe("L4-30 what an exact name is", () => {
  test.each([
    [
      "camelCase, snake_case, Types and constants",
      "run loadSession with session_id, a HookType and MAX_RETRIES",
      ["loadSession", "session_id", "HookType", "MAX_RETRIES"],
    ],
    [
      "kebab-case of three parts, and letters with digits",
      "exact-names-view on worker-3 with sha256",
      ["exact-names-view", "worker-3", "sha256"],
    ],
    [
      "members",
      "process.env.NODE_ENV and std::mem::swap, then reload() with theme.fg, this.store.loadAll()",
      ["NODE_ENV", "std::mem::swap", "reload", "theme.fg", "loadAll"],
    ],
    [
      "files and the last parts of paths",
      "see /home/me/projects/strata/packages/core/src/index.ts:12:5, main.go, ./run.sh, .gitignore",
      ["src/index.ts", "main.go", "run.sh", ".gitignore"],
    ],
    ["paths of Windows", String.raw`open C:\Users\me\notes.txt`, [String.raw`C:\Users\me\notes.txt`]],
    [
      "numbers with units",
      "1,500 ms, 64K, 3.5 GB, $12.40, 12% and 50,000 rows",
      ["1,500 ms", "64K", "3.5 GB", "$12.40", "12%", "50,000"],
    ],
    ["numbers of three digits", "port 8080, 431 of them, not 12", ["8080", "431"]],
    [
      "hashes",
      "e9f6de7 and 0123456789abcdef0123456789abcdef01234567 and 0x80070005",
      ["e9f6de7", "0123456789abcdef0123456789abcdef01234567", "0x80070005"],
    ],
    [
      "addresses",
      "10.0.0.1:5432, localhost:3000, ops@example.com, https://example.org/a?b=1&c=2, api.example.dev",
      ["10.0.0.1:5432", "localhost:3000", "ops@example.com", "https://example.org/a?b=1&c=2", "api.example.dev"],
    ],
    ["versions", "v20, 1.2.3, 2.1.0-beta.3, ^4.5.6", ["v20", "1.2.3", "2.1.0-beta.3", "4.5.6"]],
    ["flags", "with --dry-run, --port=8080 and -X", ["--dry-run", "--port", "8080", "-X"]],
    [
      "errors",
      "ENOENT, TS2345, HTTP 502, E0308, TypeError, exit code 137",
      ["ENOENT", "TS2345", "HTTP 502", "E0308", "TypeError", "exit code 137"],
    ],
    ["tickets", "ABC-123 and #4521", ["ABC-123", "#4521"]],
    ["packages", "@scope/thing in the list", ["@scope/thing"]],
    [
      "quotes",
      "Call it \"harvest moon\" or 'blue door', `npm run test`, “late shift” or `Views`.",
      ["harvest moon", "blue door", "npm run test", "late shift", "Views"],
    ],
  ])("%s", (_, text, expected) => {
    expect(names(text)).toEqual(expected)
  })

  test("several languages and scripts", () => {
    expect(names("修改session_id然后运行build_all，看「東京タワー」和『設定』，还有 報告書.md。")).toEqual([
      "session_id",
      "build_all",
      "東京タワー",
      "設定",
      "報告書.md",
    ])
    expect(names("session_id를 8080포트로 바꿔")).toEqual(["session_id", "8080"])
    expect(names("Назови это «красный дом», файл отчёт_2.txt")).toEqual(["красный дом", "отчёт_2.txt"])
    expect(names("Die Größe ist 3.5 GB, nenne es „Blaues Haus“ und prüfe größe_max")).toEqual([
      "3.5 GB",
      "Blaues Haus",
      "größe_max",
    ])
    expect(names("استخدم session_id مع «البيت الأزرق»")).toEqual(["session_id", "البيت الأزرق"])
  })

  test("each has its kind", () => {
    expect(kinds("loadAll src/app/main.ts 64K e9f6de7 10.0.0.1 v20 --all ENOENT #12 `git push`")).toEqual({
      loadAll: "identifier",
      "src/app/main.ts": "path",
      "64K": "number",
      e9f6de7: "hash",
      "10.0.0.1": "address",
      v20: "version",
      "--all": "flag",
      ENOENT: "error",
      "#12": "ticket",
      "git push": "quoted",
    })
  })

  test("they are distinct, in order of first occurrence, and no more than asked for", () => {
    expect(names("fooBar a_b fooBar c_d a_b")).toEqual(["fooBar", "a_b", "c_d"])
    expect(exactNamesIn("fooBar a_b c_d", 2).map(({ name }) => name)).toEqual(["fooBar", "a_b"])
  })
})

describe("L4-30 what is not one", () => {
  test.each([
    [
      "ordinary words",
      "The quick brown fox is well-known and out-of-the-box, and/or the user's. Done.The rest, e.g. this, i.e. that.",
    ],
    [
      "capitals at the start of a sentence",
      "Please look. Nothing works. API and JSON are ERROR words, and .ts is an ending.",
    ],
    ["nouns of German", "Die Datenbank im Keller ist kaputt."],
    ["times of log lines", "2026-11-15T21:28:19.123Z started\n[21:28:19] started\nNov 15 21:28:19 started"],
    ["years and timestamps", "since 2026 and 1763241234567"],
    ["line numbers of listings", "   120\tconst a\n   121→const b\n122: else"],
    ["hex dumps", "00000010: 7f45 4c46 0201 0100 0000 0000 0000 0000  .ELF\n7f 45 4c 46 02 01 01 00 00 00 00 00"],
    ["base64", `data ${"aB3dE5gH7jK9".repeat(6)} end`],
    [
      "integrity of lock files",
      '"integrity": "sha512-Zm9vYmFyMTIzNDU2Nzg5MA=="\ngithub.com/a/b v1.2.3 h1:abc123def456=',
    ],
    ["progress bars", "[=======>      ] 45% 12/30\n━━━━━━━━━━ 100%"],
    ["terminal colours", "\u001b[32mgreen\u001b[0m \u001b[1;31mred\u001b[0m"],
    ["hunks and blobs of a diff", "@@ -120,7 +120,9 @@\nindex e9f6de7..a1b2c3d 100644"],
    ["keys and values of JSON", '{"name": "harvest", "list": ["one", "two"]}'],
  ])("%s", (_, text) => {
    expect(names(text)).toEqual([])
  })

  test("minified code, but not prose in long lines", () => {
    expect(names(`!function(e,t){${"var fooBar=e.aB_c(t,431);".repeat(60)}}`)).toEqual([])
    expect(names(`${"so it goes on and on ".repeat(60)} with fooBar`)).toEqual(["fooBar"])
    expect(names(`${"我们继续谈这个问题，".repeat(120)}fooBar`)).toEqual(["fooBar"])
  })

  test("uuids in bulk, but not one of them", () => {
    const uuid = (at: number) => `28c304f6-3c5f-4539-af1d-07ae450e63${10 + at}`
    expect(names(`session ${uuid(0)}`)).toEqual([uuid(0)])
    expect(names(Array.from({ length: 20 }, (_, at) => uuid(at)).join("\n"))).toEqual([])
  })

  test("the rest of an ls line", () => {
    expect(names("-rw-r--r-- 1 root root 12345 Nov 15 21:21 my_file.txt")).toEqual(["my_file.txt"])
  })
})

test("L4-30 every name is in its text, and the answer depends on the text alone", () => {
  const pieces = fc.constantFrom(
    ..."ab1_-./@~,:A é\n(`\"'「」漢#$%\\",
    "https://",
    "123",
    "foo_bar",
    "x.ts",
    " ms",
    "--",
  )
  fc.assert(
    fc.property(fc.array(pieces, { maxLength: 60 }), (parts) => {
      const text = parts.join("")
      const found = exactNamesIn(text)
      expect(exactNamesIn(text)).toEqual(found)
      expect(new Set(found.map(({ name }) => name)).size).toBe(found.length)
      for (const { name, kind } of found) {
        expect(name).not.toMatch(/[\n\r]/)
        expect(name.length).toBeLessThanOrEqual(200)
        if (kind !== "error") expect(text.includes(name), JSON.stringify(name)).toBe(true)
      }
    }),
    { numRuns: size(400, 2_000) },
  )
})

test.runIf(isWhole)("L4-30 the time is linear in the text: ten texts of a megabyte of hostile input", () => {
  const LENGTH = 1_000_000
  for (const piece of ["a", "「", `"'`, "a.", "1,", "/a", "\\n", "http://", "_-", "=====>"]) {
    const text = piece.repeat(LENGTH / piece.length)
    expect(exactNamesIn(text).length, piece).toBeLessThan(3)
  }
})
