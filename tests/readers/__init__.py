"""What readers make of files: of their names, their damage, their encodings."""
