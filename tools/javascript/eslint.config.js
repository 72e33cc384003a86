// ESLint's recommended rules, for the page's scripts and those of its tests.

const js = require("@eslint/js");

const NODE = ["Buffer", "URL", "atob", "performance", "process", "setTimeout", "structuredClone"];
const STAND_INS = ["localStorage", "sessionStorage"]; // that a test gives Node
const GLOBALS = [...NODE, ...STAND_INS].map((name) => [name, "readonly"]);

module.exports = [
  { ignores: ["**/vendor/", "**/*.min.js"] },
  {
    files: ["**/*.{js,mjs}"],
    languageOptions: { sourceType: "module" },
    linterOptions: { reportUnusedDisableDirectives: "error" },
    rules: {
      ...js.configs.recommended.rules,
      "no-unused-vars": ["error", { ignoreRestSiblings: true }],
      "no-undef": "off", // the type checker reports unknown names, and knows the browser's
    },
  },
  {
    files: ["**/*.mjs"], // of Node, which the type checker does not read
    languageOptions: { globals: Object.fromEntries(GLOBALS) },
    rules: { "no-undef": "error" },
  },
];
