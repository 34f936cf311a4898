"""The verb `import`."""
