import { describe, expect, it } from "vitest"
import { secretsIn, shellEnvironment, withoutSecrets } from "./shell-environment.ts"

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
      "OPENAI_API_KEY_2",
      "OPENAI_KEY",
      "AZURE_STORAGE_KEY",
      "AZURE_STORAGE_CONNECTION_STRING",
      "AZURE_CLIENT_SECRET",
      "AWS_SESSION_TOKEN",
      "GH_TOKEN",
      "GITHUB_PAT",
      "SECRET_KEY_BASE",
      "SLACK_WEBHOOK_URL",
      "DOCKER_AUTH_CONFIG",
      "DB_PWD",
      "SMTP_PASS",
    ]
    expect(shown(Object.fromEntries(names.map((name) => [name, "x"])))).toEqual([])
  })

  it("holds what only sounds like one, and what programs need", () => {
    const names = ["PATH", "HOME", "PWD", "OLDPWD", "SSH_AUTH_SOCK", "TOKENIZERS_PARALLELISM", "KEYBOARD", "LANG"]
    expect(shown(Object.fromEntries(names.map((name) => [name, "x"])))).toEqual(names)
  })

  it("holds no value that is a secret, whatever its name; a proxy's address is needed", () => {
    const secret = {
      DATABASE_URL: "postgres://me:hunter22@db.example/x",
      REDIS: "redis://:hunter22@cache.example",
      MINE: `sk-ant-${"a".repeat(30)}`,
      CI: `ghp_${"a".repeat(36)}`,
      DEPLOY: "-----BEGIN OPENSSH PRIVATE KEY-----\nx",
    }
    const plain = { DATABASE_URL: "postgres://db.example/x", HTTPS_PROXY: "http://me:hunter22@proxy.example:3128" }
    expect(shown(secret)).toEqual([])
    expect(shown(plain)).toEqual(Object.keys(plain))
    expect(secretsIn({ ...secret, PATH: "/bin", SHORT_TOKEN: "abc" })).toEqual(Object.values(secret))
    expect(withoutSecrets(secret, { keep: ["DATABASE_URL"] })).toEqual({ DATABASE_URL: secret.DATABASE_URL })
  })

  it("lets no program wait for a person, whatever the person's own settings are", () => {
    expect(shellEnvironment({ PAGER: "less", EDITOR: "vim" })).toMatchObject({
      PAGER: "cat",
      EDITOR: "false",
      TERM: "dumb",
    })
  })
})
