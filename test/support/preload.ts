// Runs before every test file. It keeps the settings of whoever runs the tests out of them: ROLLCALL_* steers the
// service, so none may leak into a test or an executable that a test starts. ROLLCALL_TEST_* is meant for the tests.

for (const name of Object.keys(process.env)) {
  if (name.startsWith('ROLLCALL_') && !name.startsWith('ROLLCALL_TEST_')) delete process.env[name];
}

export {};
