/** Each TypeScript example of the README is a file beside this test: it is compiled with everything else, and run here. */
import { globSync, readFileSync } from "node:fs"
import { expect, test } from "vitest"

const read = (path: string) => readFileSync(new URL(path, import.meta.url), "utf8")
const shown = [...read("../README.md").matchAll(/^```ts\n(.*?)^```$/gms)].map(([, code]) => code as string)
const files = globSync("*.ts", { cwd: import.meta.dirname }).filter((file) => !file.endsWith(".test.ts"))

test("BEY-8 every example of the README is one of the files, and every file is in the README", () => {
  expect(files.map((file) => read(file)).sort()).toEqual(shown.sort())
})

test.each(files)("BEY-8 the README's example %s runs", async (file) => {
  await expect(import(`./${file}`)).resolves.toBeDefined()
})
