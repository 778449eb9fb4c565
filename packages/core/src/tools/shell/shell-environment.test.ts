import { describe, expect, it } from "vitest"
import { shellEnvironment } from "./shell-environment.ts"

describe("the environment of commands", () => {
  const shown = (env: Record<string, string>) => Object.keys(env).filter((name) => name in shellEnvironment(env))

  it("holds no secrets", () => {
    const names = [
      "ANTHROPIC_API_KEY",
      "ANTHROPIC_AUTH_TOKEN",
      "OPENAI_API_KEY",
      "GITHUB_TOKEN",
      "NPM_TOKEN",
      "AWS_ACCESS_KEY_ID",
      "AWS_SECRET_ACCESS_KEY",
      "STRIPE_SECRET_KEY",
      "OAUTH_CLIENT_SECRET",
      "PGPASSWORD",
      "MYSQL_PWD",
      "GOOGLE_APPLICATION_CREDENTIALS",
      "npm_config_//registry.example/:_authToken",
      "npm_config__auth",
      "openai_api_key",
    ]
    expect(shown(Object.fromEntries(names.map((name) => [name, "x"])))).toEqual([])
  })

  it("holds what only sounds like one, and what programs need", () => {
    const names = ["PATH", "HOME", "PWD", "OLDPWD", "SSH_AUTH_SOCK", "TOKENIZERS_PARALLELISM", "KEYBOARD", "LANG"]
    expect(shown(Object.fromEntries(names.map((name) => [name, "x"])))).toEqual(names)
  })

  it("lets no program wait for a person, whatever the person's own settings are", () => {
    expect(shellEnvironment({ PAGER: "less", EDITOR: "vim" })).toMatchObject({
      PAGER: "cat",
      EDITOR: "false",
      TERM: "dumb",
    })
  })
})
