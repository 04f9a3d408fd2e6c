"""Gates that no way leads to without an approval, found in small artifacts."""
