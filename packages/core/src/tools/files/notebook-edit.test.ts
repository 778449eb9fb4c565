import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, test } from "vitest"
import { call, scratchDirectory, testContext, textIn } from "../../../test/tool-context.ts"
import { notebookEdit } from "./notebook-edit.ts"
import { read } from "./read.ts"
import { FileReads } from "./read-state.ts"

const NOTEBOOK = {
  cells: [
    { cell_type: "markdown", id: "intro", metadata: {}, source: ["# Title\n", "text"] },
    {
      ...{ cell_type: "code", id: "load", metadata: { tags: ["x"] }, source: "import pandas" },
      ...{ outputs: [{ output_type: "stream", text: ["old"] }], execution_count: 3 },
    },
  ],
  metadata: { kernelspec: { name: "python3" } },
  ...{ nbformat: 4, nbformat_minor: 5 },
}

/** Creates a notebook that has been read. */
async function opened(text = `${JSON.stringify(NOTEBOOK, null, 1)}\n`) {
  const at = scratchDirectory()
  const path = join(at, "a.ipynb")
  const context = testContext({ at, reads: new FileReads() })
  writeFileSync(path, text)
  await call(read, { file_path: "a.ipynb" }, context)
  const now = () => readFileSync(path, "utf8")
  return {
    path,
    now,
    cells: () => (JSON.parse(now()) as typeof NOTEBOOK).cells,
    edit: (input: object) => call(notebookEdit, { notebook_path: "a.ipynb", ...input }, context),
  }
}

describe("LOOP-3 NotebookEdit", () => {
  test("replaces a cell by its id or its place; old outputs go, and all else stays as it was", async () => {
    const { edit, cells, now } = await opened()
    expect(textIn(await edit({ cell_id: "load", new_source: "import polars" }))).toContain("Updated a.ipynb.")
    expect(cells()[1]).toEqual({
      ...{ cell_type: "code", id: "load", metadata: { tags: ["x"] }, source: "import polars" },
      ...{ outputs: [], execution_count: null },
    })
    await edit({ cell_id: "0", new_source: "# New\nlines" })
    expect(cells()[0]).toEqual({ ...NOTEBOOK.cells[0], source: ["# New\n", "lines"] })
    expect(now().startsWith('{\n "cells": [\n')).toBe(true)
    expect(now().endsWith("}\n")).toBe(true)
  })

  test("inserts after a cell or at the beginning, and deletes", async () => {
    const { edit, cells } = await opened()
    await edit({ edit_mode: "insert", cell_id: "load", cell_type: "code", new_source: "df.head()" })
    await edit({ edit_mode: "insert", cell_type: "markdown", new_source: "First" })
    expect(cells().map(({ source }) => source)).toEqual([
      ...[["First"], ["# Title\n", "text"], "import pandas", ["df.head()"]],
    ])
    expect(cells()[3]).toMatchObject({ id: expect.stringMatching(/^[0-9a-f]{8}$/), outputs: [], execution_count: null })
    await edit({ edit_mode: "delete", cell_id: "intro" })
    expect(cells().map(({ id }) => id)).not.toContain("intro")
  })

  test.each([
    [{ cell_id: "gone", new_source: "x" }, /no cell "gone".*It has 2 cells/],
    [{ new_source: "x" }, /name it with cell_id/],
    [{ cell_id: "load" }, /give its new_source/],
    [{ edit_mode: "insert", new_source: "x" }, /cell_type: code or markdown/],
  ])("says what is missing, and changes nothing: %j", async (input, why) => {
    const { edit, now } = await opened()
    const before = now()
    const output = await edit(input).catch((error: Error) => error.message)
    expect(typeof output === "string" ? output : textIn(output)).toMatch(why)
    expect(now()).toBe(before)
  })

  test("refuses a file that is no notebook, and one that changed since it was read", async () => {
    const text = await opened("{}\n")
    await expect(text.edit({ cell_id: "0", new_source: "x" })).rejects.toThrow(/no Jupyter notebook/)
    const changed = await opened()
    writeFileSync(changed.path, `${JSON.stringify({ ...NOTEBOOK, metadata: {} })}\n`)
    await expect(changed.edit({ cell_id: "0", new_source: "x" })).rejects.toThrow(/changed/)
  })
})
